import DarkroomNetwork

/// Reads the part of XML 1.0 that stores send: elements, text, CDATA, comments and the five predefined entities.
///
/// Document types are refused, and with them entities of the document's own, so that nothing expands. Elements nest
/// at most 16 levels deep, and there are at most 32,768 of them: a page of a listing has half as many. Attributes, such
/// as `xmlns`, are checked and ignored.
struct XMLReader {
    private static let maxDepth = 16
    private static let maxElements = 32_768

    private let bytes: [UInt8]
    private var position = 0
    private var elements = 0

    /// The root element of a document.
    static func root(of bytes: [UInt8]) throws(XMLFault) -> XMLElement {
        var reader = XMLReader(bytes: bytes)
        _ = reader.skip("\u{feff}")
        if reader.skip("<?xml") { try reader.skipPast("?>") }
        try reader.skipMisc()
        let root = try reader.element(depth: 0)
        try reader.skipMisc()
        guard reader.position == bytes.count else { throw reader.fault }
        return root
    }

    private var fault: XMLFault { XMLFault(offset: position) }
    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Comments and blanks around the root.
    private mutating func skipMisc() throws(XMLFault) {
        skipBlanks()
        while skip("<!--") {
            try skipPast("-->")
            skipBlanks()
        }
    }

    private mutating func element(depth: Int) throws(XMLFault) -> XMLElement {
        elements += 1
        guard depth < Self.maxDepth, elements <= Self.maxElements, skip("<") else { throw fault }
        let fullName = try name()
        var element = XMLElement(
            name: fullName.utf8.split(separator: UInt8(ascii: ":")).last.map { String(Substring($0)) } ?? fullName)
        try skipAttributes()
        if skip("/>") { return element }
        guard skip(">") else { throw fault }
        var text: [UInt8] = []
        while !(next == UInt8(ascii: "<") && skip("</")) {
            switch next {
            case UInt8(ascii: "<"): try appendMarkup(to: &element, &text, depth: depth)
            case UInt8(ascii: "&"): try appendReference(to: &text)
            case nil: throw fault
            default:
                let end = bytes[position...].firstIndex { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }
                text += bytes[position..<(end ?? bytes.count)]
                position = end ?? bytes.count
            }
        }
        guard try name() == fullName else { throw fault }
        skipBlanks()
        guard skip(">"), let string = String(validating: text, as: UTF8.self) else { throw fault }
        element.text = string
        return element
    }

    /// A child, a comment or literal text.
    private mutating func appendMarkup(
        to element: inout XMLElement, _ text: inout [UInt8], depth: Int
    ) throws(XMLFault) {
        if skip("<!--") {
            try skipPast("-->")
        } else if skip("<![CDATA[") {
            let start = position
            try skipPast("]]>")
            text += bytes[start..<position - 3]
        } else {
            element.children.append(try self.element(depth: depth + 1))
        }
    }

    private mutating func name() throws(XMLFault) -> String {
        let start = position
        while let byte = next, byte.isPlainNameCharacter || byte == UInt8(ascii: ":") { position += 1 }
        guard position > start, !bytes[start].isASCIIDigit else { throw fault }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func skipAttributes() throws(XMLFault) {
        while true {
            let start = position
            skipBlanks()
            guard let byte = next, byte != UInt8(ascii: ">"), byte != UInt8(ascii: "/") else { return }
            guard position > start else { throw fault }
            _ = try name()
            skipBlanks()
            guard skip("=") else { throw fault }
            skipBlanks()
            guard let quote = ["\"", "'"].first(where: { skip($0) }) else { throw fault }
            try skipPast(quote)
        }
    }

    /// Appends the character that a reference names.
    private mutating func appendReference(to text: inout [UInt8]) throws(XMLFault) {
        let start = position + 1
        // The longest reference is &#x10FFFF; with some leading zeros.
        guard let end = bytes[start...].prefix(16).firstIndex(of: UInt8(ascii: ";")) else { throw fault }
        guard let scalar = Self.scalar(bytes[start..<end]) else { throw fault }
        text += Array(String(Character(scalar)).utf8)
        position = end + 1
    }

    private static let entities: [String: Unicode.Scalar] = [
        "lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'",
    ]

    private static func scalar(_ reference: ArraySlice<UInt8>) -> Unicode.Scalar? {
        if let scalar = entities[String(decoding: reference, as: UTF8.self)] { return scalar }
        guard reference.first == UInt8(ascii: "#") else { return nil }
        var digits = reference.dropFirst()
        let isHexadecimal = digits.first == UInt8(ascii: "x")
        if isHexadecimal { digits = digits.dropFirst() }
        // Without a sign, which the number's initializer would accept.
        guard digits.allSatisfy({ $0.hexDigitValue != nil }) else { return nil }
        let value = UInt32(String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10)
        return value.flatMap { $0 == 0 ? nil : Unicode.Scalar($0) }
    }

    private mutating func skip(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    private mutating func skipBlanks() {
        while let byte = next, byte.isBlank || byte == 0x0a || byte == 0x0d { position += 1 }
    }

    /// Moves behind the next occurrence of the text.
    private mutating func skipPast(_ text: String) throws(XMLFault) {
        while position < bytes.count {
            if skip(text) { return }
            position += 1
        }
        throw fault
    }
}

/// An element of a document: a name, and text or children.
struct XMLElement: Equatable {
    /// The name without its namespace's prefix.
    var name: String
    /// The text directly inside, with references expanded.
    var text = ""
    var children: [XMLElement] = []

    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    func text(of name: String) -> String? { child(name)?.text }
}

/// The bytes are not an XML document of the kind that stores send.
struct XMLFault: Error, Equatable {
    /// Where the fault was found.
    let offset: Int
}

/// Text for documents that are sent.
enum XMLText {
    /// Escapes text for the inside of an element, or returns nil if it has characters that XML 1.0 cannot contain, not
    /// even as references.
    static func escaped(_ text: String) -> String? {
        var output = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": output += "&amp;"
            case "<": output += "&lt;"
            case ">": output += "&gt;"
            // Literal line ends and tabs may be normalized by the reader.
            case "\t", "\n", "\r": output += "&#\(scalar.value);"
            case "\u{0}"..."\u{1f}", "\u{fffe}", "\u{ffff}": return nil
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output
    }
}
