import DarkroomVips
import Foundation

/// Bends tones along a sigmoid: away from middle grey for more contrast, towards it for less.
public struct Contrast: Transform, Hashable, Codable {
    /// 0 changes nothing.
    public static let percents = -100...100

    /// One of `percents`.
    public var percent: Int

    /// More contrast above 0, less below.
    public init(percent: Int) {
        self.percent = percent
    }

    public var key: String { "con(\(percent))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let slope = Double(abs(percent)) / 10
        guard slope > 0 else { return picture }
        let table = VipsImage.curve { percent > 0 ? Self.steeper($0, slope) : Self.flatter($0, slope) }
        return try picture.mappingTones(by: table)
    }

    /// A logistic curve, stretched so that black stays black and white stays white.
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
