/// Finds the elements, attributes and style sheets of an SVG document, in order.
///
/// An estimate, not a parser: it knows nothing of entities, and reads encodings that spell markup as ASCII does.
struct SVGScanner {
    /// An attribute of an element, by the names without prefixes.
    struct Attribute {
        let element: String
        let name: String
        /// Whether it declares a namespace.
        let isNamespace: Bool
        /// The value between its quotes.
        let value: Range<Int>
    }

    /// A part of the document.
    enum Part {
        /// An element by its name without prefix, and where the whole name is.
        case element(String, Range<Int>)
        case attribute(Attribute)
        /// The content of a `style` element.
        case styleSheet(Range<Int>)
        /// The position of the `>` that ends an element's start tag, or of what is there instead.
        case endOfTag(Int)
    }

    let bytes: UnsafeRawBufferPointer

    func scan(_ body: (Part) -> Void) {
        var position = 0
        while let start = index(of: "<", from: position) {
            position = start + 1
            if hasPrefix("!--", at: position) {
                position = end(of: "-->", from: position)
            } else if hasPrefix("![CDATA[", at: position) {
                position = end(of: "]]>", from: position)
            } else if hasPrefix("!", at: position) || hasPrefix("?", at: position) || hasPrefix("/", at: position) {
                // Attributes of entities and other markup declarations need no care: only their text is lost.
                position = end(of: ">", from: position)
            } else {
                position = scanTag(position, body)
            }
        }
    }

    /// Whether the parser reads markup as the bytes spell it: without a byte order mark of UTF-16 or UTF-32, and in a
    /// declared encoding that contains ASCII.
    var isReadAsASCII: Bool {
        guard !bytes.prefix(4).contains(where: { $0 == 0 || $0 >= 0xFE }) else { return false }
        let head = String(decoding: bytes.prefix(1024), as: UTF8.self).lowercased()
        guard let start = head.firstRange(of: "<?xml") else { return true }
        guard let end = head[start.upperBound...].firstRange(of: "?>") else { return false }
        let declaration = head[..<end.lowerBound]
        return !declaration.contains("encoding")
            || ["utf-8", "us-ascii", "iso-8859-1", "windows-1252"].contains {
                declaration.contains("\"\($0)\"") || declaration.contains("'\($0)'")
            }
    }

    /// Whether it may declare an entity, in comments too.
    var declaresEntities: Bool {
        var position = 0
        while let start = index(of: "<", from: position) {
            if hasPrefix("!ENTITY", at: start + 1) { return true }
            position = start + 1
        }
        return false
    }

    /// Reads a start tag, and the content of a `style` element behind it. Returns where the next search begins.
    private func scanTag(_ start: Int, _ body: (Part) -> Void) -> Int {
        var position = start
        let element = localName(name(&position))
        body(.element(element, start..<position))
        while position < bytes.count {
            skip(&position) { Self.isBlank($0) || $0 == UInt8(ascii: "/") }
            guard position < bytes.count, bytes[position] != UInt8(ascii: ">"), bytes[position] != UInt8(ascii: "<")
            else { break }
            let qualified = name(&position)
            let attribute = localName(qualified)
            skip(&position, Self.isBlank)
            guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
                if attribute.isEmpty { position += 1 }
                continue
            }
            position += 1
            skip(&position, Self.isBlank)
            guard position < bytes.count, let end = endOfValue(position) else { return bytes.count }
            let isNamespace = qualified == "xmlns" || qualified.hasPrefix("xmlns:")
            let value = (position + 1)..<end
            body(.attribute(Attribute(element: element, name: attribute, isNamespace: isNamespace, value: value)))
            position = end + 1
        }
        body(.endOfTag(position))
        guard element == "style", position < bytes.count, bytes[position] == UInt8(ascii: ">"),
            bytes[position - 1] != UInt8(ascii: "/")
        else { return position }
        let end = closingTag(from: position + 1)
        body(.styleSheet((position + 1)..<end))
        return end
    }

    /// The position of the quote that ends a value; nil if nothing is quoted there.
    private func endOfValue(_ start: Int) -> Int? {
        let quote = bytes[start]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        return bytes.position(of: quote, from: start + 1)
    }

    /// The end of a style sheet, which may contain `<` in a CDATA section.
    private func closingTag(from start: Int) -> Int {
        var position = start
        while let next = index(of: "<", from: position) {
            if hasPrefix("/", at: next + 1) { return next }
            position = hasPrefix("![CDATA[", at: next + 1) ? end(of: "]]>", from: next) : next + 1
        }
        return bytes.count
    }

    private static let maxNameBytes = 64

    private func name(_ position: inout Int) -> String {
        let start = position
        skip(&position) { !Self.isBlank($0) && !"/>=<\"'".utf8.contains($0) }
        return String(decoding: bytes[start..<min(position, start + Self.maxNameBytes)], as: UTF8.self)
    }

    private func localName(_ name: String) -> String {
        name.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(name[name.index(after: $0)...]) } ?? name
    }

    private func skip(_ position: inout Int, _ condition: (UInt8) -> Bool) {
        while position < bytes.count, condition(bytes[position]) { position += 1 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }

    private func index(of character: Unicode.Scalar, from start: Int) -> Int? {
        bytes.position(of: UInt8(ascii: character), from: start)
    }

    private func hasPrefix(_ text: StaticString, at position: Int) -> Bool {
        text.withUTF8Buffer { position + $0.count <= bytes.count && bytes[position...].starts(with: $0) }
    }

    /// The position behind a text; the end of the document without one.
    private func end(of text: StaticString, from start: Int) -> Int {
        let first = text.withUTF8Buffer { $0[0] }
        var position = start
        while let next = bytes.position(of: first, from: position) {
            if hasPrefix(text, at: next) { return next + text.utf8CodeUnitCount }
            position = next + 1
        }
        return bytes.count
    }
}
