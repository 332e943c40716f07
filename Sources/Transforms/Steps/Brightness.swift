import DarkroomVips

/// Adds a constant to every color sample.
public struct Brightness: Transform, Hashable, Codable {
    /// The accepted values, in percent of full scale; 0 changes nothing.
    public static let percents = -100...100

    /// The added part of full scale in percent, one of `percents`.
    public var percent: Int

    /// Adds this percentage of full scale.
    public init(percent: Int) {
        self.percent = percent
    }

    public var key: String { "bri(\(percent))" }

    public var cost: TransformCost { TransformCost(nanosecondsPerPixelWithAlpha: 20) }

    public var reading: InputReading { .colorApart }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let table = VipsImage.curve { $0 + Double(percent) / 100 }
        return try image.mappingTones(by: table)
    }
}
