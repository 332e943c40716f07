import DarkroomVips
import Foundation

/// Brightens dark tones by a power curve: each tone to the power of 1 / `exponent`.
public struct Gamma: Transform, Hashable, Codable {
    /// Exponents that may be asked for.
    public static let exponents = 1.0...3.0
    /// What `gam` without a value means.
    public static let standard = 2.2

    /// 1 changes nothing.
    public var exponent: Double

    /// An exponent of `exponents`.
    public init(exponent: Double = Gamma.defaultExponent) {
        self.exponent = exponent
    }

    public var key: String { "gam(\(exponent))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try picture.mappingTones(by: .curve { pow($0, 1 / exponent) })
    }
}
