import DarkroomVips

/// Multiplies every color sample and adds a constant for each channel.
public struct LinearTones: ColorTransform, Hashable, Codable {
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

    public var key: String { "linear(\(factor),\(red),\(green),\(blue))" }

    public var cost: TransformCost { .toneTable }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let curves = (0..<256).flatMap { tone -> [UInt8] in
            [red, green, blue].map { offset in
                UInt8(min(max((Double(tone) * factor + offset * 2.55).rounded(), 0), 255))
            }
        }
        return try image.mappingTones(by: VipsImage.fromBytes(curves, width: 256, height: 1, bands: 3))
    }
}
