import DarkroomVips
import Foundation

/// Changes contrast along a sigmoid curve: tones move away from middle gray, or towards it.
public struct Contrast: Transform, Hashable, Codable {
    /// The accepted values; 0 changes nothing, and beyond 100 few tones remain.
    public static let percents = -300...300

    /// More contrast above 0, less below; one of `percents`.
    public var percent: Int

    /// More contrast for a positive percentage, less for a negative one.
    public init(percent: Int) {
        self.percent = percent
    }

    public var key: String { "con(\(percent))" }

    public var cost: TransformCost { TransformCost(nanosecondsPerPixelWithAlpha: 20) }

    public var reading: InputReading { .colorApart }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let slope = Double(abs(percent)) / 10
        guard slope > 0 else { return image }
        let table = VipsImage.curve { percent > 0 ? Self.steeper($0, slope) : Self.flatter($0, slope) }
        return try image.mappingTones(by: table)
    }

    /// A logistic curve, scaled so that black stays black and white stays white.
    private static func steeper(_ tone: Double, _ slope: Double) -> Double {
        let (low, high) = (logistic(0, slope), logistic(1, slope))
        return (logistic(tone, slope) - low) / (high - low)
    }

    /// The inverse of `steeper`.
    private static func flatter(_ tone: Double, _ slope: Double) -> Double {
        let (low, high) = (logistic(0, slope), logistic(1, slope))
        let level = low + tone * (high - low)
        return 0.5 - log(1 / level - 1) / slope
    }

    private static func logistic(_ tone: Double, _ slope: Double) -> Double {
        1 / (1 + exp(slope * (0.5 - tone)))
    }
}
