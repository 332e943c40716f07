public import DarkroomRequests
import DarkroomVips

extension Sharpen: Transform {
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

    static let defaultSlopes = (flat: 0.0, jagged: 3.0)
    private static let mild = VipsImage.matrix([[-1, -1, -1], [-1, 32, -1], [-1, -1, -1]], scale: 24)
}
