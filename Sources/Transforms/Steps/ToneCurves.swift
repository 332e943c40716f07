import DarkroomVips
import Foundation

/// Adds a constant to every color sample.
public struct Brightness: ColorTransform, Hashable, Codable {
    /// The accepted values, in percent of full scale; 0 changes nothing.
    public static let percents = -100...100

    /// The added part of full scale in percent, one of `percents`.
    public var percent: Int

    /// Adds this percentage of full scale.
    public init(percent: Int) {
        self.percent = percent
    }

    public var key: String { "bri(\(percent))" }

    public var cost: TransformCost { .toneTable }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mappingTones(by: .curve { $0 + Double(percent) / 100 })
    }
}

/// Changes contrast along a logistic curve or its inverse: tones move away from middle gray, or toward it.
public struct Contrast: ColorTransform, Hashable, Codable {
    /// The accepted values; 0 changes nothing, and beyond 100 few tones remain.
    public static let percents = -300...300

    /// More contrast above 0, less below; one of `percents`.
    public var percent: Int

    /// More contrast for a positive percentage, less for a negative one.
    public init(percent: Int) {
        self.percent = percent
    }

    public var key: String { "con(\(percent))" }

    public var cost: TransformCost { .toneTable }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let slope = Double(abs(percent)) / 10
        guard slope > 0 else { return image }
        func logistic(_ tone: Double) -> Double { 1 / (1 + exp(slope * (0.5 - tone))) }
        // Scaled so that black stays black and white stays white.
        let (low, high) = (logistic(0), logistic(1))
        let table = VipsImage.curve { tone in
            if percent > 0 { return (logistic(tone) - low) / (high - low) }
            return 0.5 - log(1 / (low + tone * (high - low)) - 1) / slope
        }
        return try image.mappingTones(by: table)
    }
}

/// Changes dark tones by a power curve: every tone 0…1 is raised to the power of 1 / `exponent`. Exponents above 1
/// brighten, exponents below 1 darken.
public struct Gamma: ColorTransform, Hashable, Codable {
    /// The accepted exponents.
    public static let exponents = 0.3...3.0
    /// The exponent of a request that does not name an exponent.
    public static let defaultExponent = 2.2

    /// One of `exponents`; 1 changes nothing.
    public var exponent: Double

    /// A power curve of this exponent, 2.2 by default.
    public init(exponent: Double = Gamma.defaultExponent) {
        self.exponent = exponent
    }

    public var key: String { "gam(\(exponent))" }

    public var cost: TransformCost { .toneTable }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mappingTones(by: .curve { pow($0, 1 / exponent) })
    }
}
