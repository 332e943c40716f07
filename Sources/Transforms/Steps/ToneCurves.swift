public import DarkroomRequests
import DarkroomVips
import Foundation

extension Brightness: ColorTransform {
    public var key: String { "bri(\(percent))" }

    public var cost: TransformCost { .toneTable }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mappingTones(by: .curve { $0 + Double(percent) / 100 })
    }
}

extension Contrast: ColorTransform {
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

extension Gamma: ColorTransform {
    public var key: String { "gam(\(exponent))" }

    public var cost: TransformCost { .toneTable }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mappingTones(by: .curve { pow($0, 1 / exponent) })
    }
}

extension LinearTones: ColorTransform {
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
