import NIOCore

extension Problem.Document {
    /// The document as JSON on one line with sorted keys. Written without an encoder, whose overhead counts when a
    /// server under overload refuses most of its requests.
    var json: ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(160 + detail.utf8.count + title.utf8.count + instance.utf8.count)
        buffer.writeMember("{\"detail\":", detail)
        buffer.writeMember(",\"instance\":", instance)
        if let parameter { buffer.writeMember(",\"parameter\":", parameter) }
        buffer.writeString(",\"status\":\(status)")
        buffer.writeMember(",\"title\":", title)
        buffer.writeMember(",\"type\":", type)
        buffer.writeString("}")
        return buffer
    }
}

extension ByteBuffer {
    fileprivate mutating func writeMember(_ name: StaticString, _ text: String) {
        writeStaticString(name)
        writeStaticString("\"")
        if text.utf8.contains(where: Self.isEscaped) {
            for byte in text.utf8 { writeEscaped(byte) }
        } else {
            writeString(text)
        }
        writeStaticString("\"")
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Writes a byte of a JSON string (RFC 8259 §7).
    private mutating func writeEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): writeStaticString("\\\"")
        case UInt8(ascii: "\\"): writeStaticString("\\\\")
        case 0x08: writeStaticString("\\b")
        case 0x09: writeStaticString("\\t")
        case 0x0a: writeStaticString("\\n")
        case 0x0c: writeStaticString("\\f")
        case 0x0d: writeStaticString("\\r")
        case ..<0x20: writeString("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
        default: writeInteger(byte)
        }
    }
}
