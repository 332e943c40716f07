import DarkroomRequests
import DarkroomVips

/// Operations that put images together.
extension VipsImage {
    var size: PixelSize { PixelSize(width: width, height: height) }

    /// A rectangle of the image, which must lie within it.
    func extracting(x: Int, y: Int, size: PixelSize) throws(VipsError) -> VipsImage {
        try applying(
            "extract_area",
            ["left": .int(x), "top": .int(y), "width": .int(size.width), "height": .int(size.height)])
    }

    /// The image at a place of a canvas of one color, with alpha if the color is translucent.
    func embedded(in canvas: PixelSize, x: Int, y: Int, on fill: Color) throws(VipsError) -> VipsImage {
        let ready = fill.alpha < 255 ? try addingAlpha() : self
        return try ready.applying(
            "embed",
            [
                "x": .int(x), "y": .int(y), "width": .int(canvas.width), "height": .int(canvas.height),
                "extend": "background", "background": .doubles(ready.hasAlpha ? fill.rgba : fill.rgb),
            ])
    }

    /// The image at a place of a canvas that is filled with copies of its edge pixels.
    func embeddedInCopies(in canvas: PixelSize, x: Int, y: Int) throws(VipsError) -> VipsImage {
        try applying(
            "embed",
            [
                "x": .int(x), "y": .int(y), "width": .int(canvas.width), "height": .int(canvas.height),
                "extend": "copy",
            ])
    }

    /// The image with a color behind transparent pixels, without alpha.
    func flattened(on color: Color) throws(VipsError) -> VipsImage {
        hasAlpha ? try applying("flatten", ["background": .doubles(color.rgb)]) : self
    }

    /// The image with another on it, which lies within its edges.
    func covered(by image: VipsImage, x: Int, y: Int) throws(VipsError) -> VipsImage {
        if image.hasAlpha { return try composited(with: image, x: x, y: y) }
        return try VipsImage.build(
            "insert", ["main": .image(self), "sub": .image(image), "x": .int(x), "y": .int(y)])
    }

    /// The image with its alpha multiplied by a coverage: one band of bytes, 255 = visible. Colors that become
    /// invisible are cleared, so that they cannot be recovered and compress well.
    func masked(by coverage: VipsImage) throws(VipsError) -> VipsImage {
        let color = hasAlpha ? try band(0, count: bands - 1) : self
        let alpha =
            hasAlpha ? try band(bands - 1).combining("multiply", with: coverage).bytes(times: 1.0 / 255) : coverage
        let visible = try alpha.applying("relational_const", ["relational": "more", "c": .doubles([0])])
        let cleared = try VipsImage.build(
            "boolean", ["left": .image(color), "right": .image(visible), "boolean": "and"])
        return try VipsImage.joiningBands([cleared, alpha])
    }

    /// A flat color whose alpha is multiplied by this coverage.
    func inked(_ color: Color) throws(VipsError) -> VipsImage {
        let flat = try applying(
            "linear", ["a": .doubles([0, 0, 0]), "b": .doubles(color.rgb), "uchar": true])
        return try VipsImage.joiningBands([flat, bytes(times: Double(color.alpha) / 255)]).applying(
            "copy", ["interpretation": "srgb"])
    }

    /// Combines with an image on top of this image, by libvips' name of a blend mode. An opaque image stays opaque.
    func composited(
        with overlay: VipsImage, x: Int = 0, y: Int = 0, mode: String = "over"
    ) throws(VipsError) -> VipsImage {
        // In bytes, libvips would round down.
        let base = try applying("cast", ["format": "float"])
        let combined = try VipsImage.build(
            "composite2",
            [
                "base": .image(base), "overlay": .image(overlay), "x": .int(x), "y": .int(y), "mode": .string(mode),
                "compositing_space": "srgb",
            ]
        ).roundedToBytes()
        return hasAlpha ? combined : try combined.band(0, count: combined.bands - 1)
    }
}
