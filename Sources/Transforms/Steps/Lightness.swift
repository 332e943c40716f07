import DarkroomVips

/// Multiplies the lightness of every color (in CIELCh).
public struct Lightness: Transform, Hashable, Codable {
    /// The accepted factors: 0 = black, 1 changes nothing.
    public static let factors = 0.0...10.0

    /// The factor, one of `factors`.
    public var factor: Double

    /// Multiplies lightness by this factor.
    public init(factor: Double) {
        self.factor = factor
    }

    public var key: String { "mod(\(factor))" }

    public var cost: TransformCost { .pixelwise(75, withAlpha: 95) }

    public var reading: InputReading { .colorApart }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mapFrames { frame throws(VipsError) in
            try frame.modulating(lightness: factor)
        }
    }
}
