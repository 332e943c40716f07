public import DarkroomRequests
import DarkroomVips

extension Text: DrawingTransform {
    /// Reads the settings of the system's fonts ahead of the first text. Starts no thread, which drawing a text may do.
    package static func loadFontSettings() { VipsText.loadFontSettings() }

    public var key: String {
        "text(\(size.map(String.init) ?? "-"),\(color.hex),\(position.key),\(text))"
    }

    public var cost: TransformCost {
        TransformCost(
            nanosecondsPerPixel: 4, nanosecondsPerPixelWithAlpha: 15, nanosecondsPerFrame: 1e6, bytesPerPixel: 4,
            bytesPerPixelWithAlpha: 5, bytesPerFrame: 100_000)
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan.requiringEveryPixel() }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let size = size ?? max(Self.sizes.lowerBound, min(image.size.width, image.size.height) / 12)
        let margin = size / 2
        let room = Padding(margin).within(image.size)
        let layout = VipsText(text, size: size, width: max(room.width, 1))
        let measure = try layout.measuredWithGlyphs()
        try require(measure, fits: room)
        guard measure.width > 0, text.unicodeScalars.contains(where: \.hasInk) else { return image }
        let (x, y) = position.fractions
        let drawn = try layout.drawn(
            color: "#\(color.hex.prefix(6))", alignment: x < 0.5 ? "low" : x > 0.5 ? "high" : "centre"
        ).rendered()
        // Strokes may reach beyond the measured lines.
        let whole = drawn.size.clipped(to: image.size)
        let ink = try drawn.fading(by: Double(color.alpha) / 255).extracting(x: 0, y: 0, size: whole)
        let place = (
            x: Self.place(margin, room.width - whole.width, x, within: image.size.width - whole.width),
            // By the lines, not by what is drawn: the baseline is the same for all letters.
            y: Self.place(
                margin + measure.inkTop, room.height - measure.height, y, within: image.size.height - whole.height)
        )
        return try image.drawing([(ink, place.x, place.y)])
    }

    private static func place(_ margin: Int, _ free: Int, _ fraction: Double, within limit: Int) -> Int {
        min(max(margin + Int(Double(free) * fraction), 0), limit)
    }

    private func require(_ measure: VipsText.Measure, fits room: PixelSize) throws(TransformError) {
        guard measure.width > room.width || measure.height > room.height else { return }
        throw TransformError(
            parameter: "text",
            reason: "it takes \(measure.width)×\(measure.height) pixels, and the image has space for "
                + "\(max(room.width, 0))×\(max(room.height, 0)); ask for a smaller textsize or a shorter text")
    }
}

extension VipsText {
    /// The size of the layout. Throws if the fonts lack any character.
    func measuredWithGlyphs() throws(TransformError) -> Measure {
        guard let measure = measured() else {
            throw TransformError(parameter: "text", reason: "no fonts are installed on this server")
        }
        guard measure.missingGlyphs == 0 else {
            throw TransformError(
                parameter: "text",
                reason: "the fonts of this server lack \(measure.missingGlyphs) of its characters")
        }
        return measure
    }
}

extension Unicode.Scalar {
    /// Whether it may be drawn, unlike spaces, joiners and marks of direction.
    var hasInk: Bool {
        !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint && properties.generalCategory != .format
    }
}
