public import DarkroomRequests
import DarkroomVips

extension Tint: ColorTransform {
    public var key: String { "tint(\(color.hex))" }

    public var cost: TransformCost { .pixelwise(62, withAlpha: 79) }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let swatch = try VipsImage.fromBytes([color.red, color.green, color.blue], width: 1, height: 1, bands: 3)
            .applying("copy", ["interpretation": "srgb"]).applying("colourspace", ["space": "lab"])
            .pixel(x: 0, y: 0)
        return try image.changingColor { color throws(VipsError) in
            try color.applying("colourspace", ["space": "lab"]).band(0)
                .applying("bandjoin_const", ["c": .doubles([swatch[1], swatch[2]])])
                .applying("copy", ["interpretation": "lab"]).applying("colourspace", ["space": "srgb"])
        }
    }
}

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
