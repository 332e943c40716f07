import DarkroomVips
import Foundation

/// Changes dark tones by a power curve: every tone 0…1 is raised to the power of 1 / `exponent`. Exponents above 1
/// brighten, exponents below 1 darken.
public struct Gamma: Transform, Hashable, Codable {
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

    public var cost: TransformCost { TransformCost(nanosecondsPerPixelWithAlpha: 20) }

    public var reading: InputReading { .colorApart }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mappingTones(by: .curve { pow($0, 1 / exponent) })
    }
}
