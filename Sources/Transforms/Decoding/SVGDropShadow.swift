import NIOCore

/// A `feDropShadow` element. librsvg 2.54 does not know it, and leaves out everything that the filter is applied to.
///
/// It is written as the primitives that it stands for (Filter Effects Module Level 1, §9.12).
struct SVGDropShadow {
    /// From the `<` of the element to the end of its tag, or to the end of its closing tag.
    let range: Range<Int>
    /// The prefix of its name, with the colon.
    private let prefix: String
    private let attributes: [Attribute]

    struct Attribute {
        let name: String
        /// The value between its quotes.
        let value: Range<Int>
    }

    /// - Parameters:
    ///   - name: where the element's name is.
    ///   - end: the position behind the last attribute.
    /// - Returns: nil for an element that is not closed, or has others inside.
    init?(_ bytes: UnsafeRawBufferPointer, name: Range<Int>, _ attributes: [Attribute], endOfTag end: Int) {
        guard end < bytes.count, bytes[end] == UInt8(ascii: ">") else { return nil }
        let qualified = String(decoding: bytes[name], as: UTF8.self)
        prefix = qualified.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(qualified[...$0]) } ?? ""
        self.attributes = attributes
        if bytes[end - 1] == UInt8(ascii: "/") {
            range = (name.lowerBound - 1)..<(end + 1)
            return
        }
        guard let open = bytes.position(of: UInt8(ascii: "<"), from: end),
            bytes[(open + 1)...].starts(with: "/\(qualified)".utf8),
            let close = bytes.position(of: UInt8(ascii: ">"), from: open)
        else { return nil }
        range = (name.lowerBound - 1)..<(close + 1)
    }

    /// Where the values of the element's attributes begin.
    var values: [Int] { attributes.map(\.value.lowerBound) }

    /// The primitives.
    ///
    /// - Parameters:
    ///   - number: makes the names of the results unique.
    ///   - edits: other values for attributes, by where these begin.
    func primitives(_ bytes: UnsafeRawBufferPointer, number: Int, edits: [Int: ByteBuffer]) -> ByteBuffer {
        var texts: [String: String] = [:]
        for attribute in attributes where texts[attribute.name] == nil {
            let stored = String(decoding: bytes[attribute.value], as: UTF8.self)
            let value = edits[attribute.value.lowerBound].map { String(buffer: $0) } ?? stored
            let quote = bytes[attribute.value.lowerBound - 1] == UInt8(ascii: "'") ? "'" : "\""
            texts[attribute.name] = "\(attribute.name)=\(quote)\(value)\(quote)"
        }
        func take(_ names: String...) -> String {
            names.compactMap { texts.removeValue(forKey: $0) }.joined(separator: " ")
        }
        // It is written several times, and has one of three short values.
        var space = take("color-interpolation-filters")
        if space.utf8.count > 64 { space = "" }
        let (source, shadow, blurred) = ("darkroom-\(number)-a", "darkroom-\(number)-b", "darkroom-\(number)-c")
        let deviation = texts["stdDeviation"] ?? "stdDeviation=\"2\""
        let (dx, dy) = (texts["dx"] ?? "dx=\"2\"", texts["dy"] ?? "dy=\"2\"")
        _ = take("stdDeviation", "dx", "dy")
        let (input, output) = (take("in"), take("x", "y", "width", "height", "result"))
        let color = texts.sorted { $0.key < $1.key }.map(\.value).joined(separator: " ")
        let primitives = [
            "feOffset \(input) result=\"\(source)\" \(space)/",
            "feGaussianBlur in=\"\(source)\" \(deviation) \(space)/",
            "feOffset \(dx) \(dy) result=\"\(blurred)\" \(space)/",
            "feFlood \(color) \(space)/",
            "feComposite in2=\"\(blurred)\" operator=\"in\" result=\"\(shadow)\" \(space)/",
            "feMerge \(output) \(space)", "feMergeNode in=\"\(shadow)\"/", "feMergeNode in=\"\(source)\"/",
        ]
        return ByteBuffer(string: primitives.map { "<\(prefix)\($0)>" }.joined() + "</\(prefix)feMerge>")
    }
}
