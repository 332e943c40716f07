import DarkroomVips

/// Maps luminance to a gradient between two colors; alpha is not changed.
public struct Duotone: ColorTransform, Hashable, Codable {
    /// The color that replaces black.
    public var shadow: Color
    /// The color that replaces white.
    public var highlight: Color

    /// A gradient from the first color to the second; their alpha is ignored.
    public init(shadow: Color, highlight: Color) {
        self.shadow = shadow.opaque
        self.highlight = highlight.opaque
    }

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
