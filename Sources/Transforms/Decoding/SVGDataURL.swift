import Foundation
import NIOCore

/// A `data:` URL in an attribute of an SVG (RFC 2397), read as leniently as by browsers.
struct SVGDataURL {
    let content: ByteBuffer
    /// In lower case; empty if the URL states none.
    let mediaType: String

    /// Nil without the comma in front of the content.
    init?(_ attribute: ByteBuffer) {
        let text = attribute.readableBytesView
        guard let comma = text.firstIndex(of: UInt8(ascii: ",")) else { return nil }
        let head = String(decoding: text[..<comma], as: UTF8.self).lowercased()
        let rest = text[comma...].dropFirst()
        mediaType = String(head.dropFirst("data:".count).prefix { $0 != ";" }).trimmingCharacters(in: .whitespaces)
        let isBase64 = head.split(separator: ";").last?.filter { !$0.isWhitespace } == "base64"
        let isEscaped = !isBase64 || rest.contains(UInt8(ascii: "%"))
        let plain = isEscaped ? ByteBuffer(bytes: Self.fromPercentEncoding(rest)).readableBytesView : rest
        content = ByteBuffer(bytes: isBase64 ? Self.fromBase64(plain) : Array(plain))
    }

    /// Without padding, and with blanks and line ends, also as references (`&#10;`).
    private static func fromBase64(_ text: ByteBufferView) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var (bits, count, isInReference): (UInt32, Int, Bool) = (0, 0, false)
        ByteBuffer(text).withUnsafeReadableBytes { text in
            for byte in text {
                if byte == UInt8(ascii: "&") { isInReference = true }
                if isInReference {
                    isInReference = byte != UInt8(ascii: ";")
                    continue
                }
                guard let value = value(ofDigit: byte) else { continue }
                (bits, count) = (bits << 6 | UInt32(value), count + 6)
                guard count >= 8 else { continue }
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    private static func value(ofDigit byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    private static func fromPercentEncoding(_ text: ByteBufferView) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else if byte == UInt8(ascii: "&"),
                let (name, character) = references.first(where: { rest.starts(with: $0.name.utf8) })
            {
                bytes.append(character)
                rest = rest.dropFirst(name.utf8.count)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static let references: [(name: String, character: UInt8)] = [
        ("lt;", UInt8(ascii: "<")), ("gt;", UInt8(ascii: ">")), ("quot;", UInt8(ascii: "\"")),
        ("apos;", UInt8(ascii: "'")), ("amp;", UInt8(ascii: "&")),
    ]

    static func text(of content: ByteBuffer, _ mediaType: String) -> ByteBuffer {
        ByteBuffer(
            string: "data:\(mediaType);base64," + Data(content.readableBytesView).base64EncodedString())
    }
}
