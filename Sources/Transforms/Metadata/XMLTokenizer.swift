/// Splits a small XML document into tags and text (XML 1.0, fifth edition), for metadata from untrusted files.
///
/// Nothing is ever fetched or expanded: a document type declaration ends the reading, and so does a reference to any
/// entity except the five predefined entities (§4.6). Memory is bounded by the document's own length.
struct XMLTokenizer {
    enum Token {
        case open(name: Substring, attributes: [(name: Substring, value: String)], isEmpty: Bool)
        case close(name: Substring)
        /// Character data with its references expanded; CDATA sections as they are.
        case text(String)
    }

    private let bytes: [UInt8]
    private var index = 0

    private static let maxAttributes = 256

    /// - Parameter bytes: the document in UTF-8, or any encoding that spells markup as ASCII does.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    /// The next token; nil at the end of the document, or if it is not well-formed.
    mutating func next() -> Token? {
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "<") else { return text() }
            if skip("<!--") {
                guard read(upTo: "-->") != nil else { return nil }
            } else if skip("<?") {
                guard read(upTo: "?>") != nil else { return nil }
            } else if skip("<![CDATA[") {
                return read(upTo: "]]>").map { .text(String(decoding: $0, as: UTF8.self)) }
            } else if skip("</") {
                guard let name = name() else { return nil }
                skipSpace()
                return skip(">") ? .close(name: name) : nil
            } else {
                // In a document type declaration, "!" is not a name: that ends the reading.
                index += 1
                return openingTag()
            }
        }
        return nil
    }

    /// The properties of a namespace in an XMP packet by their names, as attributes or elements, wherever they are.
    /// Several texts are the items of a list. White space around a text is removed.
    static func properties(of namespace: String, in packet: [UInt8]) -> [String: [String]] {
        var tokens = XMLTokenizer(packet)
        var (texts, prefix, open) = ([String: [String]](), "", "")
        while let token = tokens.next() {
            switch token {
            case .open(let name, let attributes, let isEmpty):
                let declared = attributes.first { $0.value == namespace && $0.name.hasPrefix("xmlns:") }
                if let declared { prefix = "\(declared.name.dropFirst("xmlns:".count)):" }
                guard !prefix.isEmpty else { continue }
                for (name, value) in attributes where name.hasPrefix(prefix) {
                    texts[String(name.dropFirst(prefix.count))] = [trimmed(value)]
                }
                if name.hasPrefix(prefix), !isEmpty { open = String(name.dropFirst(prefix.count)) }
            case .text(let text):
                let text = trimmed(text)
                if !open.isEmpty, !text.isEmpty { texts[open, default: []].append(text) }
            case .close(let name):
                if !prefix.isEmpty, name.hasPrefix(prefix) { open = "" }
            }
        }
        return texts
    }

    private static func trimmed(_ text: String) -> String {
        let bytes = text.utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(decoding: Array(bytes), as: UTF8.self)
    }

    private mutating func openingTag() -> Token? {
        guard let name = name() else { return nil }
        var attributes: [(name: Substring, value: String)] = []
        while attributes.count <= Self.maxAttributes {
            let isSeparated = skipSpace()
            if skip("/>") { return .open(name: name, attributes: attributes, isEmpty: true) }
            if skip(">") { return .open(name: name, attributes: attributes, isEmpty: false) }
            guard isSeparated, let attribute = attribute() else { return nil }
            attributes.append(attribute)
        }
        return nil
    }

    private mutating func attribute() -> (name: Substring, value: String)? {
        guard let name = name() else { return nil }
        skipSpace()
        guard skip("=") else { return nil }
        skipSpace()
        let quote = skip("\"") ? "\"" : skip("'") ? "'" : nil
        guard let quote, let raw = read(upTo: quote), !raw.contains(UInt8(ascii: "<")),
            let value = Self.expanded(raw)
        else { return nil }
        return (name, value)
    }

    /// The bytes up to a byte that may follow a name. The characters of the name itself are not checked.
    private mutating func name() -> Substring? {
        let start = index
        while index < bytes.count, !Self.endsName(bytes[index]) { index += 1 }
        guard index > start, bytes[start] != UInt8(ascii: "!") else { return nil }
        return String(decoding: bytes[start..<index], as: UTF8.self)[...]
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        isSpace(byte) || "<>/='\"&".utf8.contains(byte)
    }

    private mutating func text() -> Token? {
        let start = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "<") { index += 1 }
        return Self.expanded(bytes[start..<index]).map { .text($0) }
    }

    /// Text with its references replaced; nil if a reference is not predefined or names no character.
    private static func expanded(_ raw: ArraySlice<UInt8>) -> String? {
        let parts = raw.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        var text = String(decoding: parts.first ?? [], as: UTF8.self)
        for part in parts.dropFirst() {
            guard let end = part.firstIndex(of: UInt8(ascii: ";")),
                let character = character(String(decoding: part[..<end], as: UTF8.self))
            else { return nil }
            text.unicodeScalars.append(character)
            text += String(decoding: part[(end + 1)...], as: UTF8.self)
        }
        return text
    }

    private static func character(_ reference: String) -> Unicode.Scalar? {
        if let character = entities[reference] { return character }
        guard reference.hasPrefix("#") else { return nil }
        let isHexadecimal = reference.hasPrefix("#x")
        let digits = reference.dropFirst(isHexadecimal ? 2 : 1)
        guard digits.allSatisfy(\.isHexDigit) else { return nil }
        guard let code = UInt32(digits, radix: isHexadecimal ? 16 : 10), isCharacter(code) else { return nil }
        return Unicode.Scalar(code)
    }

    private static let entities: [String: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "apos": "'", "quot": "\"",
    ]

    /// Whether XML allows the character (§2.2): most control characters are excluded.
    private static func isCharacter(_ code: UInt32) -> Bool {
        code == 0x09 || code == 0x0A || code == 0x0D || (code >= 0x20 && code != 0xFFFE && code != 0xFFFF)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = index
        while index < bytes.count, Self.isSpace(bytes[index]) { index += 1 }
        return index > start
    }

    private mutating func skip(_ expected: StaticString) -> Bool {
        let matches = expected.withUTF8Buffer { bytes[index...].starts(with: $0) }
        if matches { index += expected.utf8CodeUnitCount }
        return matches
    }

    /// The bytes before the next `end`, which is skipped too; nil if `end` is missing.
    private mutating func read(upTo end: String) -> ArraySlice<UInt8>? {
        let end = Array(end.utf8)
        let start = index
        while index + end.count <= bytes.count {
            if bytes[index] == end[0], bytes[index..<(index + end.count)].elementsEqual(end) {
                index += end.count
                return bytes[start..<(index - end.count)]
            }
            index += 1
        }
        index = bytes.count
        return nil
    }
}
