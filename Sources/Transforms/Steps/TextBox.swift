import DarkroomRequests
import DarkroomVips

struct DrawnTextBox {
    /// What is drawn, with alpha; it may reach beyond the box, as shadows do. Nil if nothing is visible.
    var image: VipsImage?
    /// The upper left corner of the image, from the upper left corner of the box.
    var x = 0
    /// The same downward.
    var y = 0
    /// The box, on which a layer's place is based.
    var box: PixelSize
    var fontSize: Int
    var lines: VipsTextLayout.Lines
}

extension TextBox {
    /// Every parameter that changes pixels. The text comes last, since it may contain any separator.
    var key: String {
        let sides = "\(width?.description ?? "-"),\(height?.description ?? "-")"
        let sizes = "\(size.map(String.init) ?? "-")\(fits ? " from \(minSize)" : "")"
        let lines = "\(maxLines.map(String.init) ?? "-"),\(lineHeight)"
        let style = "\(font) \(weight)\(isItalic ? " italic" : ""),\(color.hex)"
        let space = "\(padding.top) \(padding.right) \(padding.bottom) \(padding.left)"
        let corners = radius?.all.map(\.description).joined(separator: " ") ?? "-"
        let shadow = shadow.map { "\($0.x) \($0.y) \($0.blur) \($0.color.hex)" } ?? "-"
        return "textbox(\(sides),\(sizes),\(lines),\(alignment.rawValue),\(verticalAlignment.rawValue),\(style),"
            + "\(background?.hex ?? "-"),\(space),\(corners),\(shadow),\(text))"
    }

    /// The cost on an image of at most the size of the result.
    var cost: TransformCost {
        let layouts: Double = fits ? 14 : 3
        let fixed = 2e6 + layouts * (60_000 + 8_000 * Double(text.unicodeScalars.count))
        // Drawn, put on the background and on its shadow.
        let passes = 1 + (background == nil ? 0 : 2) + (shadow == nil ? 0 : 4.0)
        let drawing = TransformCost(
            nanosecondsPerPixel: 8 * passes, bytesPerPixel: 9 + 4 * passes, bytesPerPixelWithAlpha: 9 + 4 * passes
        ).times(mostCoverage)
        let corners = background == nil ? 0 : Outline.drawingBytes
        return drawing
            + TransformCost(nanosecondsPerFrame: fixed, bytesPerFrame: 400_000, fixedBytes: corners)
    }

    /// The cost of the shadow beyond the box, which may be larger than the image.
    func costOfShadowMargin(on canvas: PixelSize) -> (bytes: Int, work: Double) {
        guard let shadow else { return (0, 0) }
        let across = min(width?.measured(in: canvas.width) ?? canvas.width, canvas.width)
        let down = min(height?.measured(in: canvas.height) ?? canvas.height, canvas.height)
        let area = (across + 2 * shadow.margin) * (down + 2 * shadow.margin) - across * down
        return (area * Self.shadowBytesPerPixel, Double(area) * Self.shadowNanosecondsPerPixel / 1e6)
    }

    /// The mask and its blur, the colored shadow, and the box on it.
    private static let shadowBytesPerPixel = 16
    private static let shadowNanosecondsPerPixel = 40.0

    /// The largest part of the image that the box may cover.
    private var mostCoverage: Double {
        [width, height].reduce(1) { part, side in
            guard case .percent(let percentage)? = side else { return part }
            return part * min(percentage.fraction, 1)
        }
    }

    /// Draws the box for an image of a size.
    ///
    /// - Parameter name: the parameter that has the text, which errors begin with.
    /// - Throws: ``TransformError`` for a font or characters that are not installed, and for a padding that leaves no
    ///   space.
    func drawn(on canvas: PixelSize, named name: String, interrupt: @escaping Interrupt) throws -> DrawnTextBox {
        let layout = try layout(named: name)
        let space = try TextSpace(self, on: canvas, named: name)
        let setting = try space.setting(of: self, layout, interrupt)
        let lines = layout.lines(setting)
        guard lines.missingGlyphs == 0 else {
            throw TransformError(
                parameter: name, reason: "the fonts of this server lack \(lines.missingGlyphs) of its characters")
        }
        let inner = PixelSize(
            width: width == nil ? max(min(lines.width, space.inner.width), 1) : space.inner.width,
            height: height == nil ? max(min(lines.height, space.inner.height), 1) : space.inner.height)
        let box = PixelSize(width: inner.width + padding.across, height: inner.height + padding.down)
        var drawn = DrawnTextBox(box: box, fontSize: setting.size, lines: lines)
        let letters = try letters(layout, setting, lines, in: inner, on: canvas)
        guard let picture = try composed(letters, box: box, interrupt) else { return drawn }
        let image = try picture.image.setting(removing: picture.image.fields).rendered(interrupt: interrupt)
        (drawn.image, drawn.x, drawn.y) = (image, picture.x, picture.y)
        return drawn
    }

    private func layout(named name: String) throws(TransformError) -> VipsTextLayout {
        let families = VipsText.fontFamilies
        guard !families.isEmpty else {
            throw TransformError(parameter: name, reason: "no fonts are installed on this server")
        }
        guard families.contains(where: { $0.lowercased() == font.lowercased() }) else {
            let some = families.prefix(8).map { "'\($0)'" }.joined(separator: ", ")
            throw TransformError(
                parameter: "\(name).font",
                reason: "no font '\(font)' is installed on this server; installed are \(some)"
                    + (families.count > 8 ? " and \(families.count - 8) more" : ""))
        }
        let alignment: VipsTextLayout.Alignment =
            switch self.alignment {
            case .start, .justify: .start
            case .left: .left
            case .center: .center
            case .right: .right
            }
        return VipsTextLayout(
            text, font: VipsTextLayout.Font(family: font, weight: weight, isItalic: isItalic), lineHeight: lineHeight,
            alignment: alignment, justifies: self.alignment == .justify)
    }

    /// The letters at their place in the box; nil if none is visible.
    private func letters(
        _ layout: VipsTextLayout, _ setting: VipsTextLayout.Setting, _ lines: VipsTextLayout.Lines, in inner: PixelSize,
        on canvas: PixelSize
    ) throws(VipsError) -> PlacedImage? {
        guard text.unicodeScalars.contains(where: \.hasInk),
            let ink = layout.ink(setting, alignedIn: inner.width)?.clipped(
                to: PixelSize(width: inner.width, height: max(inner.height, lines.height)),
                margin: PixelSize(
                    width: min(setting.size, canvas.width), height: min(setting.size, canvas.height)))
        else { return nil }
        let free = inner.height - lines.height
        let top =
            switch verticalAlignment {
            case .top: 0
            case .middle: free / 2
            case .bottom: free
            }
        let image = try layout.drawn(setting, alignedIn: inner.width, color: color.rgb, area: ink)
        return PlacedImage(
            image: try image.fading(by: Double(color.alpha) / 255),
            x: padding.left + Self.within(ink.x, ink.width, inner.width),
            y: padding.top + Self.within(ink.y + top, ink.height, inner.height))
    }

    /// The position moved so that a length lies within another, if that is long enough: strokes such as the one of a j
    /// begin before their letter.
    private static func within(_ position: Int, _ length: Int, _ whole: Int) -> Int {
        length > whole ? position : min(max(position, 0), whole - length)
    }

    /// The letters on their background, and both on their shadow; nil if nothing is visible.
    private func composed(
        _ letters: PlacedImage?, box: PixelSize, _ interrupt: @escaping Interrupt
    ) throws(VipsError) -> PlacedImage? {
        var picture = letters
        if let background, background.alpha > 0 {
            let plain = Outline.corners(radius ?? CornerRadii(.pixels(0)))
            let filled = PlacedImage(image: try plain.coverage(of: box).inked(background), x: 0, y: 0)
            picture = try picture.map { letters throws(VipsError) in try letters.over(filled) } ?? filled
        }
        guard let shadow, let picture else { return picture }
        return try picture.over(picture.shadow(shadow, interrupt))
    }
}

private struct TextSpace {
    /// Without padding.
    let inner: PixelSize
    private let canvas: PixelSize

    init(_ box: TextBox, on canvas: PixelSize, named name: String) throws(TransformError) {
        func side(_ length: Length?, _ whole: Int) -> Int {
            let most = min(whole, Self.longestSide)
            return length.map { min(max($0.measured(in: whole), 1), most) } ?? most
        }
        let outer = PixelSize(width: side(box.width, canvas.width), height: side(box.height, canvas.height))
        inner = PixelSize(width: outer.width - box.padding.across, height: outer.height - box.padding.down)
        self.canvas = canvas
        guard inner.width > 0, inner.height > 0 else {
            throw TransformError(
                parameter: "\(name).pad",
                reason: "it leaves no space for a text in a box of \(outer.width)×\(outer.height) pixels")
        }
    }

    /// The setting of a text that fits, or of a text that is cut.
    func setting(
        of box: TextBox, _ layout: VipsTextLayout, _ interrupt: Interrupt
    ) throws -> VipsTextLayout.Setting {
        let limit = box.maxLines ?? .max
        guard box.fits else {
            let size = box.size ?? min(max(min(canvas.width, canvas.height) / 12, 6), TextBox.sizes.upperBound)
            return cut(size, box, limit)
        }
        // Words stay whole, but at the smallest size.
        func whole(_ size: Int) -> VipsTextLayout.Setting {
            VipsTextLayout.Setting(size: size, width: inner.width, breaksWords: false)
        }
        func fits(_ size: Int) throws -> Bool {
            if interrupt() { throw ImageProcessingError.interrupted }
            let lines = layout.lines(whole(size))
            guard lines.count <= limit, lines.width <= inner.width, lines.height <= inner.height else { return false }
            let ink = layout.ink(whole(size), alignedIn: inner.width)
            return ink.map { $0.width <= inner.width && $0.height <= inner.height } ?? true
        }
        var low = min(box.minSize, box.size ?? TextBox.sizes.upperBound)
        guard try fits(low) else { return cut(low, box, limit) }
        // No line is higher than the box.
        let highest = Int((Double(inner.height) / box.lineHeight).rounded(.up)) + 1
        var high = max(min(box.size ?? TextBox.sizes.upperBound, highest), low) + 1
        while high - low > 1 {
            let middle = (low + high) / 2
            if try fits(middle) { low = middle } else { high = middle }
        }
        return whole(low)
    }

    /// As many lines as the box has space for, at least one.
    private func cut(_ size: Int, _ box: TextBox, _ limit: Int) -> VipsTextLayout.Setting {
        let lines = Int((Double(inner.height) / (box.lineHeight * Double(size))).rounded(.down))
        return VipsTextLayout.Setting(
            size: size, width: inner.width, maxLines: min(limit, max(lines, 1)), breaksWords: true)
    }

    /// Cairo's longest side, less the margin of the largest letters.
    private static let longestSide = 30_000
}

extension VipsTextLayout.Area {
    /// The part within an area and a margin around it, which a pile of marks may exceed; nil if there is none.
    fileprivate func clipped(to size: PixelSize, margin: PixelSize) -> Self? {
        let (left, top) = (max(x, -margin.width), max(y, -margin.height))
        let (right, bottom) = (
            min(x + width, size.width + margin.width), min(y + height, size.height + margin.height)
        )
        guard right > left, bottom > top else { return nil }
        return Self(x: left, y: top, width: right - left, height: bottom - top)
    }
}

extension TextBox.Shadow {
    /// How far the soft edge reaches: three standard deviations.
    fileprivate var margin: Int { blur * 3 / 2 + 1 }
}

/// An image at a position.
private struct PlacedImage {
    var image: VipsImage
    var x: Int
    var y: Int

    /// This image on another, on a canvas that holds both.
    func over(_ lower: PlacedImage) throws(VipsError) -> PlacedImage {
        let (left, top) = (min(x, lower.x), min(y, lower.y))
        let canvas = PixelSize(
            width: max(x + image.width, lower.x + lower.image.width) - left,
            height: max(y + image.height, lower.y + lower.image.height) - top)
        let base = try lower.image.embedded(in: canvas, x: lower.x - left, y: lower.y - top, on: .transparent)
        return PlacedImage(
            image: try base.drawing(image, x: x - left, y: y - top), x: left, y: top)
    }

    /// The shadow of what is visible.
    func shadow(
        _ shadow: TextBox.Shadow, _ interrupt: @escaping Interrupt
    ) throws(VipsError) -> PlacedImage {
        let margin = shadow.margin
        let canvas = PixelSize(width: image.width + 2 * margin, height: image.height + 2 * margin)
        let alpha = try image.band(image.bands - 1).applying(
            "embed",
            ["x": .int(margin), "y": .int(margin), "width": .int(canvas.width), "height": .int(canvas.height)])
        // Half as wide as a blur of an image is on its smaller image: there is one band, without fine detail.
        let soft =
            shadow.blur == 0
            ? alpha
            : try alpha.rendered(interrupt: interrupt)
                .blurred(sigma: Double(shadow.blur) / 2, reducedTo: 2, interrupt: interrupt)
        return PlacedImage(
            image: try soft.rendered(interrupt: interrupt).inked(shadow.color), x: x + shadow.x - margin,
            y: y + shadow.y - margin)
    }
}
