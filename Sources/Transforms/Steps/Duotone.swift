public import DarkroomRequests
import DarkroomVips

extension Duotone: ColorTransform {
    public var key: String { "duotone(\(shadow.hex),\(highlight.hex))" }

    public var cost: TransformCost { .pixelwise(10, withAlpha: 25) }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let colors = (0..<256).flatMap { tone -> [UInt8] in
            zip(shadow.rgb, highlight.rgb).map { dark, light in
                UInt8((dark + (light - dark) * Double(tone) / 255).rounded())
            }
        }
        let gradient = try VipsImage.fromBytes(colors, width: 256, height: 1, bands: 3)
        return try image.changingColor { color throws(VipsError) in try color.grayscale(through: gradient) }
    }
}
