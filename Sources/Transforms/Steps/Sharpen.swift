import DarkroomVips

/// Sharpens lightness, leaving hues alone.
public struct Sharpen: Transform, Hashable, Codable {
    /// Standard deviations that may be asked for, in pixels of the result.
    public static let sigmas = 0.000001...10

    /// Nil = a mild sharpening over 3×3 pixels.
    public var sigma: Double?

    /// A sharpening of one of `sigmas`, or a mild one.
    public init(sigma: Double? = nil) {
        self.sigma = sigma
    }

    public var key: String { "sharp(\(sigma.map { "\($0)" } ?? "mild"))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try picture.mapFrames { frame throws(VipsError) in
            try frame.changingColor { color throws(VipsError) in
                guard let sigma else { return try color.convolving(Self.mild) }
                return try color.applying("sharpen", ["sigma": .double(sigma)])
            }
        }
    }

    private static let mild = VipsImage.matrix([[-1, -1, -1], [-1, 32, -1], [-1, -1, -1]], scale: 24)
}
