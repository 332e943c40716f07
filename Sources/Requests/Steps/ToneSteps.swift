/// Adds a constant to every color sample.
public struct Brightness: Hashable, Codable, Sendable {
    /// The accepted values, in percent of full scale; 0 changes nothing.
    public static let percents = -100...100

    /// The added part of full scale in percent, one of `percents`.
    public var percent: Int

    /// Adds this percentage of full scale.
    public init(percent: Int) {
        self.percent = percent
    }
}

/// Changes contrast along a logistic curve or its inverse: tones move away from middle gray, or toward it.
public struct Contrast: Hashable, Codable, Sendable {
    /// The accepted values; 0 changes nothing, and beyond 100 few tones remain.
    public static let percents = -300...300

    /// More contrast above 0, less below; one of `percents`.
    public var percent: Int

    /// More contrast for a positive percentage, less for a negative one.
    public init(percent: Int) {
        self.percent = percent
    }
}

/// Changes dark tones by a power curve: every tone 0…1 is raised to the power of 1 / `exponent`. Exponents above 1
/// brighten, exponents below 1 darken.
public struct Gamma: Hashable, Codable, Sendable {
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
}

/// Multiplies every color sample and adds a constant for each channel.
public struct LinearTones: Hashable, Codable, Sendable {
    /// The accepted values of ``factor``.
    public static let factors = 0.0...300.0
    /// The accepted values of the offsets, in percent of full scale.
    public static let offsets = -30_000.0...30_000.0

    /// One of `factors`; 1 changes nothing.
    public var factor: Double
    /// The part of full scale that is added to red, in percent; one of `offsets`.
    public var red: Double
    /// The same for green.
    public var green: Double
    /// The same for blue.
    public var blue: Double

    /// Multiplies by `factor`, then adds the offsets.
    public init(factor: Double, red: Double = 0, green: Double = 0, blue: Double = 0) {
        self.factor = factor
        self.red = red
        self.green = green
        self.blue = blue
    }
}
