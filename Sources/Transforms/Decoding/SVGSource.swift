import DarkroomRequests
import DarkroomVips
import NIOCore

/// Detection and decompression of SVG, which has no signature and may be gzipped (`.svgz`).
enum SVGSource {
    /// The longest document in bytes, inflated if it is gzipped.
    static let maxPlainBytes = 16 << 20

    /// Whether the bytes are XML whose root element is `svg`, by their first 64 KiB. If these are gzipped, the root has
    /// to be in the first 32 KiB that they inflate to.
    static func matches(_ source: ByteBuffer) -> Bool {
        let head = Gzip.isGzip(source) ? inflatedHead(of: source) : source
        guard let bytes = head?.readableBytesView.prefix(maxSniffedBytes) else { return false }
        return rootIsSVG(text(bytes)[...])
    }

    /// Only the beginning is read: blocks may be empty, which takes time. A cut file is an error if it inflates to less
    /// than is asked for, so only half of its length is: even a file that is hardly compressed has that.
    private static func inflatedHead(of source: ByteBuffer) -> ByteBuffer? {
        let length = min(source.readableBytes, maxSniffedBytes)
        guard let head = source.getSlice(at: source.readerIndex, length: length) else { return nil }
        return try? Gzip.inflate(head, maxBytes: maxSniffedBytes / 2).plain
    }

    /// The uncompressed document, in UTF-8 if it was in UTF-16. It is inflated here under a limit, because the loader
    /// would inflate without one.
    static func plain(_ source: ByteBuffer) throws(ImageProcessingError) -> ByteBuffer {
        guard Gzip.isGzip(source) else {
            guard source.readableBytes <= maxPlainBytes else {
                throw .tooLarge("The SVG has \(source.readableBytes) bytes; at most \(maxPlainBytes) are accepted.")
            }
            return inUTF8(source)
        }
        let inflated: (plain: ByteBuffer, isWhole: Bool)
        do {
            inflated = try Gzip.inflate(source, maxBytes: maxPlainBytes)
        } catch {
            throw .corrupt(error.description)
        }
        guard inflated.isWhole else {
            throw .tooLarge("The SVG inflates to more than the \(maxPlainBytes) bytes accepted.")
        }
        return inUTF8(inflated.plain)
    }

    /// The document in UTF-8. A declaration of UTF-16, or of another version of XML than 1.0, is left out: libxml2
    /// refuses both in documents that browsers show, such as one in UTF-8 that .NET declares to be UTF-16.
    private static func inUTF8(_ document: ByteBuffer) -> ByteBuffer {
        let isUTF16 = [[0xFE, 0xFF], [0xFF, 0xFE]].contains { document.readableBytesView.starts(with: $0) }
        let plain = isUTF16 ? ByteBuffer(string: text(document.readableBytesView)) : document
        let head = String(decoding: plain.readableBytesView.prefix(maxDeclaration), as: UTF8.self)
        guard head.drop(while: isPadding).hasPrefix("<?xml"), let end = head.firstRange(of: "?>")?.upperBound,
            let declaration = Optional(head[..<end].lowercased()),
            declaration.contains("utf-16") || !declaration.contains("1.0")
        else { return plain }
        var rest = plain
        rest.moveReaderIndex(forwardBy: head.utf8.distance(from: head.startIndex, to: end))
        return rest
    }

    private static let maxDeclaration = 256

    /// libvips reports 1 for a side that is too long for it, and its true length at a smaller scale. Version 8.15 and
    /// later refuse a scale at which the other side vanishes.
    static func naturalSize(_ stated: PixelSize, of reader: SourceReader) -> PixelSize {
        guard min(stated.width, stated.height) == 1 else { return stated }
        var size = stated
        for divisor in [10, 100, 1000] where size == stated {
            let small = try? reader.withFields(["scale": .double(1 / Double(divisor))]) { image in
                (width: image.width, height: image.height)
            }
            guard let small else { continue }
            if stated.width == 1, small.width > 1 { size.width = small.width * divisor }
            if stated.height == 1, small.height > 1 { size.height = small.height * divisor }
        }
        return size
    }

    private static let maxSniffedBytes = 65_536

    /// UTF-16 is marked by its byte order mark; all other encodings spell markup as ASCII does.
    private static func text(_ bytes: ByteBufferView) -> String {
        let isBigEndian = bytes.starts(with: [0xFE, 0xFF])
        guard isBigEndian || bytes.starts(with: [0xFF, 0xFE]) else { return String(decoding: bytes, as: UTF8.self) }
        var units = ByteBuffer(bytes)
        var decoded: [UInt16] = []
        while let unit = units.readInteger(endianness: isBigEndian ? .big : .little, as: UInt16.self) {
            decoded.append(unit)
        }
        return String(decoding: decoded, as: UTF16.self)
    }

    /// Skips the prolog (XML 1.0 §2.8) and reads the root element's name.
    private static func rootIsSVG(_ text: Substring) -> Bool {
        var rest = text.drop(while: isPadding)
        while rest.hasPrefix("<?") || rest.hasPrefix("<!") {
            guard let end = endOfPrologItem(rest) else { return false }
            rest = rest[end...].drop(while: isPadding)
        }
        guard rest.hasPrefix("<") else { return false }
        let name = rest.dropFirst().prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" }
        return name == "svg" || name.hasSuffix(":svg")
    }

    private static func isPadding(_ character: Character) -> Bool {
        character.isWhitespace || character == "\u{FEFF}"
    }

    private static func endOfPrologItem(_ text: Substring) -> Substring.Index? {
        if text.hasPrefix("<!--") { return text.firstRange(of: "-->")?.upperBound }
        if text.hasPrefix("<?") { return text.firstRange(of: "?>")?.upperBound }
        return text.hasPrefix("<!DOCTYPE") ? endOfDoctype(text) : nil
    }

    /// The first `>` outside of the internal subset's brackets, quotation marks and comments.
    private static func endOfDoctype(_ text: Substring) -> Substring.Index? {
        var rest = text
        var isInSubset = false
        while let character = rest.first {
            if rest.hasPrefix("<!--") {
                guard let end = rest.firstRange(of: "-->")?.upperBound else { return nil }
                rest = rest[end...]
                continue
            }
            rest.removeFirst()
            switch character {
            case "\"", "'":
                guard let close = rest.firstIndex(of: character) else { return nil }
                rest = rest[close...].dropFirst()
            case "[": isInSubset = true
            case "]": isInSubset = false
            case ">" where !isInSubset: return rest.startIndex
            default: break
            }
        }
        return nil
    }
}
