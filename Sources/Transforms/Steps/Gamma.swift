import DarkroomVips
import Foundation

/// Brightens dark tones by a power curve: every tone 0…1 is raised to the power of 1 / `exponent`.
public struct Gamma: Transform, Hashable, Codable {
    /// The accepted exponents.
    public static let exponents = 1.0...3.0
    /// The exponent of a request that names none.
    public static let defaultExponent = 2.2

    /// One of `exponents`; 1 changes nothing.
    public var exponent: Double

    /// A power curve of this exponent, 2.2 by default.
    public init(exponent: Double = Gamma.defaultExponent) {
        self.exponent = exponent
    }

    public var key: String { "gam(\(exponent))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mappingTones(by: .curve { pow($0, 1 / exponent) })
    }
}
