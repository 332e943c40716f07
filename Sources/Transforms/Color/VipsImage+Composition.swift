import DarkroomVips

/// Operations that put images together.
extension VipsImage {
    /// The image with its alpha multiplied by a coverage: one band of bytes, 255 = visible. Colors that become
    /// invisible are cleared, so that they cannot be recovered and compress well.
    func masked(by coverage: VipsImage) throws(VipsError) -> VipsImage {
        let color = hasAlpha ? try band(0, count: bands - 1) : self
        let alpha = hasAlpha ? try band(bands - 1).multipliedBytes(by: coverage) : coverage
        let visible = try alpha.applying("relational_const", ["relational": "more", "c": .doubles([0])])
        let cleared = try VipsImage.build(
            "boolean", ["left": .image(color), "right": .image(visible), "boolean": "and"])
        return try VipsImage.joiningBands([cleared, alpha])
    }

    /// A flat color whose alpha is multiplied by this coverage.
    func inked(_ color: Color) throws(VipsError) -> VipsImage {
        let flat = try applying(
            "linear", ["a": .doubles([0, 0, 0]), "b": .doubles(color.rgb), "uchar": true])
        let alpha = try applying(
            "linear", ["a": .doubles([Double(color.alpha) / 255]), "b": .doubles([0.5]), "uchar": true])
        return try VipsImage.joiningBands([flat, alpha]).applying("copy", ["interpretation": "srgb"])
    }

    /// Draws ink (see `inked`) that lies within this image. An opaque image stays opaque.
    ///
    /// - Parameters:
    ///   - x: the position of the ink's left edge on this image.
    ///   - y: the position of its upper edge.
    func drawing(
        _ ink: VipsImage, x: Int = 0, y: Int = 0, _ blend: Mark.Blend = .over
    ) throws(VipsError) -> VipsImage {
        // In whole numbers, and only where the ink is: many times faster than `composite2`.
        guard !hasAlpha, blend == .over else { return try composited(with: ink, x: x, y: y, mode: blend.mode) }
        let below = try extracting(x: x, y: y, size: PixelSize(width: ink.width, height: ink.height))
        let mixed = try VipsImage.build(
            "ifthenelse",
            ["cond": .image(ink.band(3)), "in1": .image(ink.band(0, count: 3)), "in2": .image(below), "blend": true])
        return try VipsImage.build(
            "insert", ["main": .image(self), "sub": .image(mixed), "x": .int(x), "y": .int(y)])
    }

    /// Combines with an image on top of this image, by libvips' name of a blend mode. An opaque image stays opaque.
    ///
    /// - Parameters:
    ///   - x: where the overlay's left edge lies on this image.
    ///   - y: where its upper edge lies.
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

    private func multipliedBytes(by other: VipsImage) throws(VipsError) -> VipsImage {
        try combining("multiply", with: other)
            .applying("linear", ["a": .doubles([1.0 / 255]), "b": .doubles([0.5]), "uchar": true])
    }
}
