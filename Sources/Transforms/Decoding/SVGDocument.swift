import DarkroomRequests
import DarkroomVips
import NIOCore

/// An SVG in a form that librsvg draws as browsers do: with lengths in pixels, without variables of CSS, and with
/// embedded images in formats that it knows.
struct SVGDocument: Sendable {
    /// The document with its embedded images as they are.
    let bytes: ByteBuffer
    private let plain: ByteBuffer
    private let edits: [Edit]
    /// What is not drawn as in browsers, as far as the text says.
    private let gaps: SVGGaps
    /// The addresses of embedded images, in order.
    private let images: [Range<Int>]
    private let depth: Int
    /// The opaque color behind the drawing that the root element has. librsvg does not know it.
    let background: Color?

    /// A part of the document and what replaces it.
    typealias Edit = (range: Range<Int>, text: ByteBuffer)

    /// - Parameter depth: how many documents this one is embedded in.
    init(_ plain: ByteBuffer, depth: Int = 0) {
        var reading = Reading()
        plain.withUnsafeReadableBytes { reading.read($0) }
        (self.plain, self.depth) = (plain, depth)
        (edits, gaps, images) = (reading.edits, reading.gaps, reading.images)
        background = reading.background
        bytes = plain.replacing(edits)
    }

    /// Whether libxml2 has to accept long texts, as of large embedded images. It would then also accept entities that
    /// multiply, so documents that declare any are refused from 10 MB on, as before.
    static func needsUnlimited(_ document: ByteBuffer) -> Bool {
        document.readableBytes >= maxUsualText
            && document.withUnsafeReadableBytes { bytes in
                let scanner = SVGScanner(bytes: bytes)
                return scanner.isReadAsASCII && !scanner.declaresEntities
            }
    }

    private static let maxUsualText = 9_000_000

    /// The embedded images that are drawn in another format, with their cost.
    struct Images: Hashable, Sendable {
        private(set) var pixels = 0
        /// The images, and the documents, that were read.
        private(set) var count = 0
        /// The length of all images in the text of the document.
        fileprivate(set) var textBytes = 0

        static let (maxPixels, maxCount, maxDepth) = (4_000_000, 64, 2)

        /// Counts an image before it is read, unless there were too many.
        mutating func admitNext() -> Bool {
            guard count < Self.maxCount else { return false }
            count += 1
            return true
        }

        /// Counts the pixels of an image before they are decoded, unless there were too many.
        mutating func admit(_ size: PixelSize) -> Bool {
            let sum = pixels.addingReportingOverflow(size.area)
            guard !sum.overflow, sum.partialValue <= Self.maxPixels else { return false }
            pixels = sum.partialValue
            return true
        }
    }

    /// The cost and the gaps of the embedded images, from their headers.
    func measuredImages() -> (images: Images, gaps: SVGGaps) {
        var (budget, gaps) = (Images(), self.gaps)
        _ = drawn(&budget, &gaps) { _, _ in ByteBuffer() }
        return (budget, gaps)
    }

    /// The document with all embedded images in formats that librsvg knows.
    func drawn(interrupt: @escaping Interrupt) -> ByteBuffer {
        var (budget, gaps) = (Images(), SVGGaps())
        return drawn(&budget, &gaps) { source, loader throws(VipsError) in
            let pixels = try loader.withImage(of: source) { lazy throws(VipsError) in
                try lazy.withUnsignedSamples().rendered(interrupt: interrupt)
            }
            let colors = try pixels.applying("autorot").convertedToSRGB(interrupt: interrupt)
            return try VipsSaver.png.encode(colors, ["compression": 1], interrupt: interrupt)
        }
    }

    /// Whether an image has an orientation or a profile, which librsvg ignores.
    private static func needsChange(_ source: ByteBuffer, _ format: SourceFormat, _ budget: inout Images) -> Bool {
        let head = source.readableBytesView.prefix(2048)
        let names = ["Exif", "eXIf", "ICC_PROFILE", "iCCP"]
        guard names.contains(where: { head.firstRange(of: $0.utf8) != nil }), let loader = format.row.loader,
            budget.admitNext(), (try? HeaderLimits.check(source, format)) != nil
        else { return false }
        let needsChange = try? loader.withImage(of: source) { lazy throws(VipsError) in
            (2...8).contains(lazy.int("orientation") ?? 1) || lazy.interpretation != "cmyk" && lazy.needsProfile
        }
        return needsChange ?? false
    }

    /// The formats that librsvg draws.
    private static let drawnTypes = [SourceFormat.jpeg: "image/jpeg", .png: "image/png"]

    private func drawn(
        _ budget: inout Images, _ gaps: inout SVGGaps,
        _ encode: (ByteBuffer, VipsLoader) throws(VipsError) -> ByteBuffer
    ) -> ByteBuffer {
        var edits = edits
        if depth == 0 { budget.textBytes = images.reduce(0) { $0 + $1.count } }
        for range in images {
            guard let text = plain.getSlice(at: plain.readerIndex + range.lowerBound, length: range.count),
                let url = SVGDataURL(text)
            else { continue }
            let source = url.content
            guard let format = SourceFormat(sniffing: source) else {
                gaps.insert(.images)
                continue
            }
            if format == .svg {
                guard let inner = nested(source, &budget, &gaps, encode) else { continue }
                edits.append((range, SVGDataURL.text(of: inner, "image/svg+xml")))
            } else if let mediaType = Self.drawnTypes[format], !Self.needsChange(source, format, &budget) {
                // librsvg believes the type that is stated.
                if url.mediaType != mediaType { edits.append((range, SVGDataURL.text(of: source, mediaType))) }
            } else if [SourceFormat.webp, .avif, .gif, .jpeg, .png].contains(format) {
                guard let loader = format.row.loader, budget.admitNext(),
                    (try? HeaderLimits.check(source, format)) != nil, let size = Self.size(of: source, loader),
                    budget.admit(size), let image = try? encode(source, loader)
                else {
                    gaps.insert(.images)
                    continue
                }
                edits.append((range, SVGDataURL.text(of: image, "image/png")))
            } else {
                gaps.insert(.images)
            }
        }
        return plain.replacing(edits.sorted { $0.range.lowerBound < $1.range.lowerBound })
    }

    /// An embedded document as it is drawn; nil if it is drawn as it is, or nested too deeply.
    private func nested(
        _ source: ByteBuffer, _ budget: inout Images, _ gaps: inout SVGGaps,
        _ encode: (ByteBuffer, VipsLoader) throws(VipsError) -> ByteBuffer
    ) -> ByteBuffer? {
        // A document in a URL is not compressed.
        guard depth < Images.maxDepth, budget.admitNext(), !Gzip.isGzip(source) else {
            gaps.insert(.images)
            return nil
        }
        let document = SVGDocument(source, depth: depth + 1)
        gaps.formUnion(document.gaps)
        let drawn = document.drawn(&budget, &gaps, encode)
        return drawn == source ? nil : drawn
    }

    private static func size(of source: ByteBuffer, _ loader: VipsLoader) -> PixelSize? {
        try? loader.withImage(of: source) { lazy throws(VipsError) in
            PixelSize(width: lazy.width, height: lazy.height)
        }
    }
}

/// Reads the text of a document once.
private struct Reading {
    private(set) var edits: [SVGDocument.Edit] = []
    private(set) var images: [Range<Int>] = []
    private(set) var gaps: SVGGaps = []
    private(set) var background: Color?
    /// The background of the root element by style sheets, which its attribute takes precedence over.
    private var sheetBackground: Color?
    private var style = SVGStyle()
    /// Style sheets and attributes; nil = a style sheet, else whether it is an attribute of the root element.
    private var texts: [(range: Range<Int>, isRoot: Bool?)] = []
    private var (hasRoot, isInRoot, isForeign) = (false, false, false)
    /// Whether the attribute `media` of the style sheet whose tag is being read holds, if it has one; an inner nil =
    /// unknown.
    private var medium: Bool??
    /// The conditions of style sheets that were read.
    private var conditions = 0
    private var tag = SVGTag()
    private var viewport = SVGViewport()
    /// The font size that the root element has in browsers, if it states none.
    private var fontSize: SVGDocument.Edit?
    private var hasText = false
    private var shadows: [SVGDropShadow] = []
    /// The drop shadow whose tag is being read.
    private var shadow: (name: Range<Int>, attributes: [SVGDropShadow.Attribute])?
    /// The most drop shadows that are replaced, each of which makes the document longer.
    private static let maxShadows = 1000

    mutating func read(_ bytes: UnsafeRawBufferPointer) {
        SVGScanner(bytes: bytes).scan { part in
            switch part {
            case .element(let name, let place):
                finishTag()
                medium = nil
                isInRoot = !hasRoot
                (hasRoot, isForeign) = (true, name == "foreignObject")
                hasText = hasText || name == "text"
                tag.begin(name, nameEnd: place.upperBound)
                shadow = name == "feDropShadow" && shadows.count < Self.maxShadows ? (place, []) : nil
            case .attribute(let attribute): add(attribute, bytes)
            case .styleSheet(let range):
                if medium == .some(nil) { gaps.insert(.rules) }
                if medium == .some(false) {
                    edits.append((range, ByteBuffer()))
                } else {
                    addText(range, isRoot: nil)
                }
                medium = nil
            case .endOfTag(let end):
                finishTag()
                if isInRoot { finishRoot(tag.attributes(bytes)) }
                edits += tag.edits(bytes, end: end, viewport, &gaps)
                let found = shadow.flatMap {
                    SVGDropShadow(bytes, name: $0.name, $0.attributes, endOfTag: end)
                }
                if let found { shadows.append(found) }
                shadow = nil
            }
        }
        rewriteTexts(bytes)
        gaps.formUnion(style.gaps)
        writeShadows(bytes)
    }

    private mutating func finishRoot(_ attributes: [String: String]) {
        viewport = SVGViewport(attributes)
        style.begin(attributes, viewport)
        if let box = viewport.correctedBox, let edit = tag.replacing("viewBox", by: box) { edits.append(edit) }
        if attributes["font-size"] == nil { fontSize = tag.adding("font-size", "16px") }
        isInRoot = false
    }

    private mutating func rewriteTexts(_ bytes: UnsafeRawBufferPointer) {
        // Other encodings stay as they are.
        let readable = texts.compactMap { part -> StyleText? in
            guard let text = String(validating: bytes[part.range], as: UTF8.self) else { return nil }
            guard part.isRoot == nil else { return StyleText(range: part.range, text: text, isRoot: part.isRoot) }
            let rules = SVGMediaRules(text, in: viewport, limit: SVGMediaRules.maxCount - conditions)
            conditions += rules.count
            if rules.hasUndecided { gaps.insert(.rules) }
            if text.contains("-baseline") { gaps.insert(.properties) }
            return StyleText(
                range: part.range, text: rules.resolved ?? text, isChanged: rules.resolved != nil, isRoot: nil)
        }
        // A style sheet may come behind the elements that use its variables.
        for part in readable { style.addVariables(of: part.text, isRoot: part.isRoot) }
        for part in readable {
            let rewritten = style.rewritten(part.text) ?? (part.isChanged ? part.text : nil)
            addRootStyle(rewritten ?? part.text, isRoot: part.isRoot)
            guard let text = rewritten else { continue }
            edits.append((part.range, ByteBuffer(string: text)))
        }
        background = background ?? sheetBackground
        if hasText || style.usesFontSize, let fontSize { edits.append(fontSize) }
        edits.sort { $0.range.lowerBound < $1.range.lowerBound }
    }

    private mutating func addRootStyle(_ text: String, isRoot: Bool?) {
        switch isRoot {
        case true?:
            background = SVGStyle.background(of: text) ?? background
            if SVGStyle.hasOtherBackground(text) || text.contains("transform") { gaps.insert(.properties) }
        case nil where text.contains("background"):
            for declarations in style.rootBackgrounds(of: text) {
                sheetBackground = SVGStyle.background(of: declarations) ?? sheetBackground
                if SVGStyle.hasOtherBackground(declarations) { gaps.insert(.properties) }
            }
        default: break
        }
    }

    /// A style sheet or an attribute, without conditional rules that were decided.
    private struct StyleText {
        let range: Range<Int>
        let text: String
        var isChanged = false
        let isRoot: Bool?
    }

    /// Replaces drop shadows by other primitives. What was changed in their attributes is part of these.
    private mutating func writeShadows(_ bytes: UnsafeRawBufferPointer) {
        guard !shadows.isEmpty else { return }
        let places = Set(shadows.flatMap(\.values))
        let inside = Dictionary(
            edits.filter { places.contains($0.range.lowerBound) }.map { ($0.range.lowerBound, $0.text) },
            uniquingKeysWith: { first, _ in first })
        edits.removeAll { places.contains($0.range.lowerBound) }
        for (number, shadow) in shadows.enumerated() {
            edits.append((shadow.range, shadow.primitives(bytes, number: number, edits: inside)))
        }
        edits.sort { $0.range.lowerBound < $1.range.lowerBound }
    }

    /// Illustrator's own data is in `foreignObject` elements that require Illustrator.
    private mutating func finishTag() {
        if isForeign { gaps.insert(.foreignObject) }
        isForeign = false
    }

    private mutating func addText(_ range: Range<Int>, isRoot: Bool?) {
        guard texts.count < Self.maxTexts else {
            gaps.insert(.variables)
            return
        }
        texts.append((range, isRoot))
    }

    /// The most texts that are read, each with memory of its own.
    private static let maxTexts = 200_000

    private mutating func add(_ attribute: SVGScanner.Attribute, _ bytes: UnsafeRawBufferPointer) {
        let value = bytes[attribute.value]
        if attribute.isNamespace, !value.isEmpty, !value.contains(where: { ":&".utf8.contains($0) }) {
            // libxml2 refuses a relative address.
            edits.append((attribute.value, ByteBuffer(string: "urn:" + String(decoding: value, as: UTF8.self))))
        }
        tag.add(attribute)
        shadow?.attributes.append(SVGDropShadow.Attribute(name: attribute.name, value: attribute.value))
        switch attribute.name {
        case "requiredExtensions": isForeign = false
        case "media" where attribute.element == "style":
            conditions += 1
            let isDecided = value.count <= SVGMediaRules.maxCondition && conditions <= SVGMediaRules.maxCount
            medium = .some(isDecided ? SVGMediaRules.holds(String(decoding: value, as: UTF8.self), in: viewport) : nil)
        case "pathLength": gaps.insert(.properties)
        case "transform" where isInRoot: gaps.insert(.properties)
        case "clip-path" where attribute.element == "clipPath": gaps.insert(.properties)
        case "vector-effect": if value.elementsEqual("non-scaling-stroke".utf8) { gaps.insert(.properties) }
        case "style": addText(attribute.value, isRoot: isInRoot)
        case "href" where ["image", "feImage"].contains(attribute.element):
            if value.drop(while: { $0 <= 0x20 }).starts(with: "data:".utf8) { images.append(attribute.value) }
        case let name where Self.lengths.contains(name):
            if value.contains(where: { $0 >= 0x41 }) { addText(attribute.value, isRoot: false) }
        case let name where Self.paints.contains(name):
            if value.contains(UInt8(ascii: "(")) { texts.append((attribute.value, false)) }
        default: break
        }
    }

    /// The attributes that can have a unit, and others that can have a variable or a color.
    private static let lengths: Set<String> = [
        "width", "height", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry", "fx", "fy", "fr", "dx", "dy",
        "font-size", "font", "stroke-width", "stroke-dasharray", "stroke-dashoffset", "letter-spacing", "word-spacing",
        "baseline-shift", "startOffset", "textLength", "markerWidth", "markerHeight", "refX", "refY",
    ]
    private static let paints: Set<String> = [
        "fill", "stroke", "color", "stop-color", "flood-color", "lighting-color", "opacity", "fill-opacity",
        "stroke-opacity", "stop-opacity", "font-family", "display", "visibility",
    ]
}

extension ByteBuffer {
    /// The bytes with these parts replaced, which are in order and do not overlap.
    fileprivate func replacing(_ edits: [SVGDocument.Edit]) -> ByteBuffer {
        guard !edits.isEmpty else { return self }
        var result = ByteBuffer()
        result.reserveCapacity(readableBytes + edits.reduce(0) { $0 + $1.text.readableBytes })
        var copied = 0
        for (range, text) in edits {
            result.writeBytes(readableBytesView.dropFirst(copied).prefix(range.lowerBound - copied))
            result.writeImmutableBuffer(text)
            copied = range.upperBound
        }
        result.writeBytes(readableBytesView.dropFirst(copied))
        return result
    }
}
