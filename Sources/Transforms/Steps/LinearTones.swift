public import DarkroomRequests
import DarkroomVips

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
