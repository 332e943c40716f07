import DarkroomVips

/// Adds the same to every colour sample.
public struct Brightness: Transform, Hashable, Codable {
    /// Percent of full scale; 0 changes nothing.
    public static let percents = -100...100

    /// One of `percents`.
    public var percent: Int

    /// Adds so much of full scale.
    public init(percent: Int) {
        self.percent = percent
    }

    public var key: String { "bri(\(percent))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let table = VipsImage.curve { $0 + Double(percent) / 100 }
        return try picture.mappingTones(by: table)
    }
}
