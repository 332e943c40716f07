import DarkroomVips

/// Sharpens lightness without changing hues (libvips `sharpen`).
public struct Sharpen: Transform, Hashable, Codable {
    /// The accepted standard deviations, in pixels of the result.
    public static let sigmas = 0.000001...10

    /// The standard deviation, one of `sigmas`; nil = a mild 3×3 sharpening.
    public var sigma: Double?

    /// A sharpening of this standard deviation, or a mild one by default.
    public init(sigma: Double? = nil) {
        self.sigma = sigma
    }

    public var key: String { "sharp(\(sigma.map { "\($0)" } ?? "mild"))" }

    public var cost: TransformCost { TransformCost(nanosecondsPerPixel: 150) }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mapFrames { frame throws(VipsError) in
            try frame.changingColor { color throws(VipsError) in
                guard let sigma else { return try color.convolving(Self.mild) }
                return try color.applying("sharpen", ["sigma": .double(sigma)])
            }
        }
    }

    private static let mild = VipsImage.matrix([[-1, -1, -1], [-1, 32, -1], [-1, -1, -1]], scale: 24)
}
