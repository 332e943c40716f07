import DarkroomVips

/// Multiplies the chroma of every colour.
public struct Saturation: Transform, Hashable, Codable {
    /// 0 = grey, 1 changes nothing.
    public static let factors = 0.0...10.0

    /// One of `factors`.
    public var factor: Double

    /// Multiplies chroma by this.
    public init(factor: Double) {
        self.factor = factor
    }

    public var key: String { "sat(\(factor))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try picture.mapFrames { frame throws(VipsError) in
            try frame.modulating(chroma: factor, hueDegrees: 0)
        }
    }
}
