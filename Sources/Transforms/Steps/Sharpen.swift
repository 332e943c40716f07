import DarkroomVips

/// Sharpens lightness without changing hues (libvips `sharpen`).
public struct Sharpen: Transform, Hashable, Codable {
    /// The accepted standard deviations, in pixels of the result.
    public static let sigmas = 0.000001...10

    /// The standard deviation, one of `sigmas`; nil = a mild 3×3 sharpening.
    public var sigma: Double?
    /// How much flat areas are sharpened, one of `slopes`; nil = not at all.
    public var flat: Double?
    /// How much jagged areas are sharpened, one of `slopes`; nil = 3.
    public var jagged: Double?

    /// The accepted values of ``flat`` and ``jagged``.
    public static let slopes = 0.0...1_000_000.0

    /// A sharpening of this standard deviation, or a mild one by default, which has no areas.
    public init(sigma: Double? = nil, flat: Double? = nil, jagged: Double? = nil) {
        self.sigma = sigma
        self.flat = flat
        self.jagged = jagged
    }

    public var key: String {
        let slopes = [flat, jagged].map { $0.map { ",\($0)" } ?? ",-" }.joined()
        return "sharp(\(sigma.map { "\($0)" } ?? "mild")\(flat == nil && jagged == nil ? "" : slopes))"
    }

    public var cost: TransformCost {
        guard let sigma else { return .pixelwise(36, withAlpha: 50) }
        let nanoseconds = 115 + 16 * sigma
        return TransformCost(
            nanosecondsPerPixel: nanoseconds, nanosecondsPerPixelWithAlpha: nanoseconds * 1.4,
            nanosecondsPerFrame: 2.5e6,
            bytesPerPixel: 2, bytesPerPixelWithAlpha: 6, bytesPerFrame: 700_000)
    }

    public var reading: InputReading { sigma == nil ? .colorApart : .repeatedly }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.amplifyingNoise(by: 1 + (sigma == nil ? 0 : flat ?? Self.defaultSlopes.flat))
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.changingColor { color throws(VipsError) in
            guard let sigma else { return try color.convolving(Self.mild) }
            return try color.applying(
                "sharpen",
                [
                    "sigma": .double(sigma), "m1": .double(flat ?? Self.defaultSlopes.flat),
                    "m2": .double(jagged ?? Self.defaultSlopes.jagged),
                ])
        }
    }

    /// The defaults of libvips.
    static let defaultSlopes = (flat: 0.0, jagged: 3.0)
    private static let mild = VipsImage.matrix([[-1, -1, -1], [-1, 32, -1], [-1, -1, -1]], scale: 24)
}
