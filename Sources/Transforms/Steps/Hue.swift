import DarkroomVips

/// Rotates the hue of every color (in CIELCh).
public struct Hue: Transform, Hashable, Codable {
    /// The accepted angles; 0 changes nothing, positive angles move red towards yellow.
    public static let degrees = 0...359

    /// The angle, one of `degrees`.
    public var degrees: Int

    /// Rotates hues by this angle.
    public init(degrees: Int) {
        self.degrees = degrees
    }

    public var key: String { "hue(\(degrees))" }

    public var cost: TransformCost { .pixelwise(75, withAlpha: 95) }

    public var reading: InputReading { .colorApart }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mapFrames { frame throws(VipsError) in
            try frame.modulating(hueDegrees: Double(degrees))
        }
    }
}
