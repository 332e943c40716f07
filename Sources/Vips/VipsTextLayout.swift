import DarkroomCVips

/// Lines of a plain text in one font of the system, which Pango lays out and Cairo draws.
///
/// Unlike ``VipsText``, it limits the number of lines, sets their distance, and measures before anything is drawn.
/// Distances between letters are not rounded, so that a text keeps its proportions at all sizes. An instance belongs to
/// one thread.
public final class VipsTextLayout {
    /// A font without its size.
    public struct Font: Hashable, Sendable {
        /// A family of the system. It must not contain a comma, which would begin another family.
        public var family: String
        /// 100 to 900.
        public var weight: Int
        public var isItalic: Bool

        public init(family: String, weight: Int, isItalic: Bool) {
            self.family = family
            self.weight = weight
            self.isItalic = isItalic
        }
    }

    /// Where lines begin and end.
    public enum Alignment: Sendable {
        /// Where the text begins, by its direction.
        case start
        case left, center, right
    }

    /// How the text is laid out. Lengths are in pixels.
    public struct Setting: Hashable, Sendable {
        /// The em square of the font.
        public var size: Int
        /// The width at which lines are wrapped.
        public var width: Int
        /// The most lines; a longer text is cut, with an ellipsis.
        public var maxLines: Int
        /// Whether a word that is wider than a line is broken.
        public var breaksWords: Bool

        public init(size: Int, width: Int, maxLines: Int = .max, breaksWords: Bool) {
            self.size = size
            self.width = width
            self.maxLines = maxLines
            self.breaksWords = breaksWords
        }
    }

    /// A rectangle of whole pixels, from the upper left corner of the lines.
    public struct Area: Hashable, Sendable {
        public var x: Int
        public var y: Int
        public var width: Int
        public var height: Int

        public init(x: Int, y: Int, width: Int, height: Int) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
    }

    /// Lines that are laid out.
    public struct Lines: Hashable, Sendable {
        public internal(set) var count: Int
        /// The width of the longest line.
        public internal(set) var width: Int
        /// All lines, in their distance.
        public internal(set) var height: Int
        /// Whether something was left out for an ellipsis.
        public internal(set) var isCut: Bool
        /// Characters that no font of the system has.
        public internal(set) var missingGlyphs: Int
    }

    private let text: String
    private let layout: OpaquePointer
    private let description: OpaquePointer
    private let lineHeight: Double
    private let alignment: Alignment
    /// The baseline of a line below its middle, in sizes of the font.
    private let baseline: Double
    private var current: (setting: Setting, lines: Lines)?

    /// - Parameters:
    ///   - lineHeight: the distance of lines, in sizes of the font.
    ///   - justifies: whether all lines but the last are stretched to the width.
    public init(_ text: String, font: Font, lineHeight: Double, alignment: Alignment, justifies: Bool) {
        VipsRuntime.start()
        // Line feeds would begin paragraphs, each with a number of lines and a direction of its own.
        self.text = text.replacing("\n", with: Self.lineSeparator)
        self.lineHeight = lineHeight
        self.alignment = alignment
        let context = pango_font_map_create_context(pango_cairo_font_map_get_default())
        defer { g_object_unref(UnsafeMutableRawPointer(context)) }
        let options = cairo_font_options_create()
        cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
        cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE)
        cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
        pango_cairo_context_set_font_options(context, options)
        cairo_font_options_destroy(options)
        pango_context_set_round_glyph_positions(context, 0)
        description = pango_font_description_new()
        pango_font_description_set_family(description, font.family)
        pango_font_description_set_weight(description, PangoWeight(rawValue: UInt32(clamping: font.weight)))
        if font.isItalic { pango_font_description_set_style(description, PANGO_STYLE_ITALIC) }
        baseline = Self.baseline(description, context)
        layout = pango_layout_new(context)
        pango_layout_set_justify(layout, justifies ? 1 : 0)
    }

    deinit {
        pango_font_description_free(description)
        g_object_unref(UnsafeMutableRawPointer(layout))
    }

    /// Lays the text out. The same setting again costs nothing.
    public func lines(_ setting: Setting) -> Lines {
        if let current, current.setting == setting { return current.lines }
        pango_font_description_set_absolute_size(description, Double(setting.size) * Self.scale)
        pango_layout_set_font_description(layout, description)
        pango_layout_set_width(layout, Int32(clamping: setting.width * Int(PANGO_SCALE)))
        pango_layout_set_wrap(layout, setting.breaksWords ? PANGO_WRAP_WORD_CHAR : PANGO_WRAP_WORD)
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_NONE)
        pango_layout_set_text(layout, text, -1)
        let isCut = Int(pango_layout_get_line_count(layout)) > setting.maxLines
        if isCut { cut(after: max(setting.maxLines, 1)) }
        let count = Int(pango_layout_get_line_count(layout))
        let widths = (0..<count).map { extents($0).logical.width }
        let lines = Lines(
            count: count, width: Self.pixels(widths.max() ?? 0, .up),
            height: Int((Double(count) * lineHeight * Double(setting.size)).rounded(.up)), isCut: isCut,
            missingGlyphs: Int(pango_layout_get_unknown_glyphs_count(layout)))
        current = (setting, lines)
        return lines
    }

    /// The area that is drawn; nil if nothing is.
    ///
    /// - Parameter width: the width in which lines are aligned.
    public func ink(_ setting: Setting, alignedIn width: Int) -> Area? {
        let lines = lines(setting)
        var edges: (left: Int, top: Int, right: Int, bottom: Int)?
        for index in 0..<lines.count {
            let ink = extents(index).ink
            guard ink.width > 0, ink.height > 0 else { continue }
            let origin = origin(of: index, setting, alignedIn: width)
            let left = Int(origin.x.rounded()) + Int(ink.x)
            let top = Int(origin.y.rounded()) + Int(ink.y)
            let line = (left: left, top: top, right: left + Int(ink.width), bottom: top + Int(ink.height))
            edges =
                edges.map {
                    (
                        min($0.left, line.left), min($0.top, line.top), max($0.right, line.right),
                        max($0.bottom, line.bottom)
                    )
                } ?? line
        }
        guard let edges else { return nil }
        let (x, y) = (Self.pixels(edges.left, .down), Self.pixels(edges.top, .down))
        return Area(
            x: x, y: y, width: Self.pixels(edges.right, .up) - x, height: Self.pixels(edges.bottom, .up) - y)
    }

    /// Draws a part of the lines on transparency, as sRGB with alpha. Emoji keep their own colors.
    ///
    /// - Parameters:
    ///   - color: red, green and blue, 0…255.
    ///   - area: of at most 32,767 rows and columns.
    public func drawn(
        _ setting: Setting, alignedIn width: Int, color: [Double], area: Area
    ) throws(VipsError) -> VipsImage {
        let lines = lines(setting)
        let surface = cairo_image_surface_create(
            CAIRO_FORMAT_ARGB32, Int32(clamping: area.width), Int32(clamping: area.height))
        defer { cairo_surface_destroy(surface) }
        let cairo = cairo_create(surface)
        defer { cairo_destroy(cairo) }
        cairo_set_source_rgb(cairo, color[0] / 255, color[1] / 255, color[2] / 255)
        for index in 0..<lines.count {
            let origin = origin(of: index, setting, alignedIn: width)
            cairo_move_to(cairo, origin.x / Self.scale - Double(area.x), origin.y / Self.scale - Double(area.y))
            pango_cairo_show_layout_line(cairo, pango_layout_get_line_readonly(layout, Int32(index)))
        }
        cairo_surface_flush(surface)
        guard cairo_status(cairo) == CAIRO_STATUS_SUCCESS, let pixels = cairo_image_surface_get_data(surface) else {
            throw VipsError(operation: "text", message: String(cString: cairo_status_to_string(cairo_status(cairo))))
        }
        return try Self.straight(
            UnsafeRawPointer(pixels), stride: Int(cairo_image_surface_get_stride(surface)), width: area.width,
            height: area.height)
    }

    private static let lineSeparator = "\u{2028}"
    private static let ellipsis = "…"
    private static let scale = Double(PANGO_SCALE)

    private static func pixels(_ units: some BinaryInteger, _ rule: FloatingPointRoundingRule) -> Int {
        Int((Double(units) / scale).rounded(rule))
    }

    /// Leaves lines out. Of the last line, all that would follow without a line separator is kept, which Pango cuts to
    /// the width; it would draw what follows a separator in the same line.
    private func cut(after count: Int) {
        let start = Int(pango_layout_get_line_readonly(layout, Int32(count - 1)).pointee.start_index)
        let rest = text.utf8.index(text.utf8.startIndex, offsetBy: start)
        let end = text[rest...].firstRange(of: Self.lineSeparator)?.lowerBound
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
        pango_layout_set_height(layout, -Int32(clamping: count))
        if let end { pango_layout_set_text(layout, text[..<end] + Self.ellipsis, -1) }
    }

    private func extents(_ line: Int) -> (ink: PangoRectangle, logical: PangoRectangle) {
        var (ink, logical) = (PangoRectangle(), PangoRectangle())
        pango_layout_line_get_extents(pango_layout_get_line_readonly(layout, Int32(line)), &ink, &logical)
        return (ink, logical)
    }

    /// The left end of a line's baseline, in Pango's units.
    private func origin(of line: Int, _ setting: Setting, alignedIn width: Int) -> (x: Double, y: Double) {
        let pointer = pango_layout_get_line_readonly(layout, Int32(line))
        let free = Double(width) * Self.scale - Double(extents(line).logical.width)
        let isRightToLeft = pango_layout_line_get_resolved_direction(pointer) == PANGO_DIRECTION_RTL
        let part: Double =
            switch alignment {
            case .start: isRightToLeft ? 1 : 0
            case .left: 0
            case .center: 0.5
            case .right: 1
            }
        let middle = (Double(line) + 0.5) * lineHeight
        return (free * part, (middle + baseline) * Double(setting.size) * Self.scale)
    }

    /// The baseline below the middle of ascent and descent, in sizes of the font. It is measured at a large size.
    private static func baseline(_ description: OpaquePointer?, _ context: OpaquePointer?) -> Double {
        pango_font_description_set_absolute_size(description, 100 * scale)
        let metrics = pango_context_get_metrics(context, description, nil)
        defer { pango_font_metrics_unref(metrics) }
        return Double(pango_font_metrics_get_ascent(metrics) - pango_font_metrics_get_descent(metrics)) / 200 / scale
    }

    /// Cairo's pixels are 32-bit numbers of alpha, red, green and blue, with colors multiplied by alpha.
    private static func straight(
        _ pixels: UnsafeRawPointer, stride: Int, width: Int, height: Int
    ) throws(VipsError) -> VipsImage {
        let template = try VipsCanvas.template(width: width, height: height, bands: 4, density: (1, 1), profile: nil)
        let canvas = try VipsCanvas(template)
        var row = [UInt8](repeating: 0, count: width * 4)
        for y in 0..<height {
            let source = (pixels + y * stride).assumingMemoryBound(to: UInt32.self)
            for x in 0..<width {
                let pixel = source[x]
                let alpha = pixel >> 24
                for band in 0..<3 {
                    let value = pixel >> UInt32(16 - 8 * band) & 255
                    row[x * 4 + band] = UInt8(truncatingIfNeeded: alpha == 0 ? 0 : (value * 255 + alpha / 2) / alpha)
                }
                row[x * 4 + 3] = UInt8(truncatingIfNeeded: alpha)
            }
            canvas.write(row, row: y)
        }
        return canvas.image
    }
}
