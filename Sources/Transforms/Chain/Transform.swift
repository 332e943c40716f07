import DarkroomRequests
public import DarkroomVips

/// One step of the chain: takes a decoded image and returns a changed image.
///
/// ```swift
/// struct Median: Transform {
///     var side: Int
///     var key: String { "median(\(side))" }
///
///     func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
///         try image.mapFrames { frame throws(VipsError) in
///             try frame.applying(
///                 "rank", ["width": .int(side), "height": .int(side), "index": .int(side * side / 2)])
///         }
///     }
/// }
/// ```
///
/// A step that can be requested is also a property of ``Recipe``, with a place in its order.
public protocol Transform: Sendable {
    /// The transform's name and *every* parameter that changes pixels, such as `blur(1.5)`.
    ///
    /// It is part of the variant key: the same input and the same key must give the same pixels.
    var key: String { get }

    /// The step's processor time and memory per pixel, for admission control. The default is ``TransformCost/none``.
    var cost: TransformCost { get }

    /// How the step reads the image before it. The default is ``InputReading/once``.
    var reading: InputReading { get }

    /// The plan after this step: the size that it returns, and what it requires of the decoder.
    ///
    /// Called with the header alone, before anything is decoded. By default the size is unknown: the decoder then
    /// delivers every pixel, and sizes stay as they are. Throws if the header alone shows that the step is impossible,
    /// such as a crop outside the image.
    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan

    /// Returns the changed image, which may be lazy. Runs on a pixel thread.
    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames
}

extension Transform {
    public var cost: TransformCost { .none }
    public var reading: InputReading { .once }
    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan.withUnknownSize() }
}

/// A transform of colors alone: the size stays, and color and alpha are read apart.
public protocol ColorTransform: Transform {}

extension ColorTransform {
    public var reading: InputReading { .colorApart }
    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }
}

/// A transform that draws something over the image, in pixels of the image.
public protocol DrawingTransform: Transform {}

extension DrawingTransform {
    /// Rows below the drawing are read for the drawing and for the rest of the image.
    public var reading: InputReading { .repeatedly }
    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.requiringEveryPixel().withoutPlainArea()
    }
}

/// The estimated cost of a step beyond decoding, resampling and encoding, on one core of a 2020 server.
public struct TransformCost: Hashable, Sendable {
    /// Nanoseconds for each pixel of the larger image, before or after the step, if the source is opaque; about 75 for
    /// a conversion of colors that computes every pixel again.
    public var nanosecondsPerPixel: Double
    /// The same if the source has an alpha channel.
    public var nanosecondsPerPixelWithAlpha: Double
    /// Nanoseconds for each pixel of the decoded image, for a step that runs before the resize.
    public var nanosecondsPerDecodedPixel: Double
    /// Nanoseconds for each frame, whatever its size.
    public var nanosecondsPerFrame: Double
    /// Bytes held for each pixel of the larger image, if the source is opaque.
    public var bytesPerPixel: Double
    /// The same if the source has an alpha channel.
    public var bytesPerPixelWithAlpha: Double
    /// The part of the decoded image that is held a second time, 0…1.
    public var decodedCopies: Double
    /// Bytes held for each frame, whatever its size: all frames are held until the last frame is computed, except of an
    /// animation of many frames, where the step computes one after the other.
    public var bytesPerFrame: Double
    /// Bytes held once, whatever the size and the number of frames, such as the memory of a library.
    public var fixedBytes: Double
    /// Nanoseconds for each pixel by which the step enlarges an opaque image.
    var nanosecondsPerAddedPixel = 0.0
    /// Bytes that each frame keeps after it is computed.
    var keptBytesPerFrame = 0.0
    /// What the steps do to the detail of the image.
    var change = PixelChange.moved

    /// A cost of these parts, each 0 by default; for `nanosecondsPerPixelWithAlpha`, nil = as without alpha.
    public init(
        nanosecondsPerPixel: Double = 0, nanosecondsPerPixelWithAlpha: Double? = nil,
        nanosecondsPerDecodedPixel: Double = 0, nanosecondsPerFrame: Double = 0, bytesPerPixel: Double = 0,
        bytesPerPixelWithAlpha: Double = 0, decodedCopies: Double = 0, bytesPerFrame: Double = 0,
        fixedBytes: Double = 0
    ) {
        self.nanosecondsPerPixel = nanosecondsPerPixel
        self.nanosecondsPerPixelWithAlpha = nanosecondsPerPixelWithAlpha ?? nanosecondsPerPixel
        self.nanosecondsPerDecodedPixel = nanosecondsPerDecodedPixel
        self.nanosecondsPerFrame = nanosecondsPerFrame
        self.bytesPerPixel = bytesPerPixel
        self.bytesPerPixelWithAlpha = bytesPerPixelWithAlpha
        self.decodedCopies = decodedCopies
        self.bytesPerFrame = bytesPerFrame
        self.fixedBytes = fixedBytes
    }

    /// The cost of a step that is cheap in comparison with decoding and encoding, such as a mirror or a lookup table.
    public static let none = TransformCost()

    /// The cost of an operation that computes every pixel again, with the buffers of its strips.
    ///
    /// - Parameters:
    ///   - stripBytes: the bytes of these buffers for each pixel of an opaque image; with alpha, the image is computed
    ///     before the step.
    ///   - frameBytes: the bytes of the buffers of the smallest frame.
    static func pixelwise(
        _ nanoseconds: Double, withAlpha: Double, stripBytes: Double = 0, frameBytes: Double = 120_000
    ) -> TransformCost {
        TransformCost(
            nanosecondsPerPixel: nanoseconds, nanosecondsPerPixelWithAlpha: withAlpha, nanosecondsPerFrame: 1e6,
            bytesPerPixel: stripBytes, bytesPerFrame: frameBytes)
    }

    /// The cost of looking up every sample in a table.
    static let toneTable = TransformCost(
        nanosecondsPerPixel: 2, nanosecondsPerPixelWithAlpha: 3, bytesPerPixel: 0.2)

    /// The cost on a raster of this many times the pixels.
    func times(_ factor: Double) -> TransformCost {
        var cost = self
        cost.nanosecondsPerPixel *= factor
        cost.nanosecondsPerPixelWithAlpha *= factor
        cost.bytesPerPixel *= factor
        cost.bytesPerPixelWithAlpha *= factor
        return cost
    }

    static func + (one: TransformCost, other: TransformCost) -> TransformCost {
        var sum = TransformCost(
            nanosecondsPerPixel: one.nanosecondsPerPixel + other.nanosecondsPerPixel,
            nanosecondsPerPixelWithAlpha: one.nanosecondsPerPixelWithAlpha + other.nanosecondsPerPixelWithAlpha,
            nanosecondsPerDecodedPixel: one.nanosecondsPerDecodedPixel + other.nanosecondsPerDecodedPixel,
            nanosecondsPerFrame: one.nanosecondsPerFrame + other.nanosecondsPerFrame,
            bytesPerPixel: one.bytesPerPixel + other.bytesPerPixel,
            bytesPerPixelWithAlpha: one.bytesPerPixelWithAlpha + other.bytesPerPixelWithAlpha,
            decodedCopies: one.decodedCopies + other.decodedCopies,
            bytesPerFrame: one.bytesPerFrame + other.bytesPerFrame,
            // Steps use the same libraries.
            fixedBytes: max(one.fixedBytes, other.fixedBytes))
        sum.keptBytesPerFrame = one.keptBytesPerFrame + other.keptBytesPerFrame
        sum.change = max(one.change, other.change)
        return sum
    }
}

/// The information that a transform gets in addition to the pixels.
public struct TransformContext: Sendable {
    /// The plan after this step, made from the header.
    public let plan: ChainPlan
    /// Returns true once the request has timed out or been canceled. Transforms with long loops should call it.
    public let interrupt: Interrupt
    /// The images that steps draw, by their content.
    var images: [String: MarkSource] = [:]
    /// The copy on which a ``CoverCrop`` decides; nil if it decides on its image.
    var overview: OverviewSource?
    /// What finds the faces that steps hide and show.
    var faces = FaceFinders()
}

/// Why a transform is impossible for this image: the request is at fault, not the source.
public struct TransformError: Error, Codable, Sendable, Hashable {
    /// The query parameter at fault, by its public name, such as `crop`.
    public let parameter: String
    /// A sentence for the client that states the given value and the allowed values.
    public let reason: String

    /// An error of this parameter.
    public init(parameter: String, reason: String) {
        self.parameter = parameter
        self.reason = reason
    }
}

/// What steps do to the pixels that a file has, as far as the time of encoding depends on it. In ascending order.
enum PixelChange: Comparable {
    /// Pixels keep their values, at another place or not at all.
    case moved
    /// Pixels become means of others, or plain: there is no more detail than before.
    case mixed
    /// Anything may be drawn, and contrast may grow.
    case drawn

    /// - Parameter keepsSize: whether the step makes an image of the same size, so that a resize does nothing.
    init(_ step: any Transform, keepsSize: Bool = false) {
        switch step {
        case is SourceDigest, is Orient, is Crop, is Inset, is Trim, is CoverCrop, is Flip, is Flop, is ColorConversion,
            is FaceZoom, is Rendering:
            self = .moved
        case is Resize where keepsSize: self = .moved
        case let stills as StillsOnly: self = PixelChange(stills.step, keepsSize: keepsSize)
        case let rotation as Rotate: self = rotation.degrees.isQuarterTurns ? .moved : .mixed
        case is Resize, is LayoutResize, is LayoutCanvas, is Scale, is ContainExtend, is Pad, is CanvasFill, is Flatten,
            is FlattenStep, is Blur, is Pixelate:
            self = .mixed
        default: self = .drawn
        }
    }
}

extension Transform {
    /// Whether the step only moves pixels, to places that the header decides.
    var onlyMovesPixels: Bool {
        switch self {
        case is Orient, is Inset, is Crop, is Flip, is Flop: true
        case let crop as CoverCrop: !crop.position.dependsOnPixels
        case let clip as Clip: !clip.position.dependsOnPixels
        case let rotation as Rotate: rotation.degrees.isQuarterTurns
        default: false
        }
    }
}
