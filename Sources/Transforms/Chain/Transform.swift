public import DarkroomVips

/// One delegate of the chain: it takes a decoded picture and gives another.
///
/// ```swift
/// struct Pixelate: Transform {
///     var block: Int
///     var key: String { "pixelate(\(block))" }
///
///     func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
///         try picture.mapFrames { frame throws(VipsError) in
///             try frame.applying("shrink", ["hshrink": .int(block), "vshrink": .int(block)])
///                 .applying("zoom", ["xfac": .int(block), "yfac": .int(block)])
///         }
///     }
/// }
/// ```
public protocol Transform: Sendable {
    /// The transform's name and *every* parameter that changes pixels, e.g. `blur(1.5)`.
    ///
    /// It becomes part of the variant key: same input and same key must give the same pixels.
    var key: String { get }

    /// What this step makes of the plan before anything is decoded: the size it will give, and what it needs of the decoder.
    ///
    /// The default says "unknown": the decoder then gives every pixel, and sizes stay as they are.
    /// Throws where the header alone shows that the step cannot be done (a crop outside the picture).
    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan

    /// Makes the new picture. Runs on a pixel thread; may be lazy, since the end of the chain renders all.
    func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames
}

extension Transform {
    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan.ofUnknownSize() }
}

/// What a transform may know besides the pixels.
public struct TransformContext: Sendable {
    /// The plan that the chain made from the header.
    public let plan: ChainPlan
    /// True once the request is over its time or nobody waits for it. Long loops of a transform's own should ask.
    public let interrupt: Interrupt
}

/// Why a transform cannot be done on this picture: the request's fault, not the picture's.
public struct TransformError: Error, Codable, Sendable, Hashable {
    /// The query parameter at fault, by its public name (`crop`).
    public let parameter: String
    /// A sentence for the client: what was given and what is allowed.
    public let reason: String

    /// The parameter at fault and a sentence.
    public init(parameter: String, reason: String) {
        self.parameter = parameter
        self.reason = reason
    }
}
