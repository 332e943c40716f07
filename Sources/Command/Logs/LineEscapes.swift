/// How untrusted text is written into a line.
extension [UInt8] {
    /// Appends a value of a line of text or logfmt. Values beyond plain ASCII words are quoted.
    mutating func appendWord(_ text: String, _ format: LogFormat) {
        let isPlain = { (byte: UInt8) in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
                && (byte != UInt8(ascii: "=") || format != .logfmt)
        }
        if !text.isEmpty, appendUnchanged(text, if: isPlain) { return }
        append(UInt8(ascii: "\""))
        appendEscaped(text, format)
        append(UInt8(ascii: "\""))
    }

    /// Appends text with quotes, backslashes and unprintable characters escaped: in text as in Swift, otherwise as in
    /// JSON, which is what readers of logfmt understand.
    mutating func appendEscaped(_ text: String, _ format: LogFormat) {
        for scalar in text.unicodeScalars {
            if (0x20...0x7E).contains(scalar.value) {
                if scalar == "\"" || scalar == "\\" { append(UInt8(ascii: "\\")) }
                append(UInt8(ascii: scalar))
                continue
            }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                if format == .text {
                    self += "\\u{\(String(scalar.value, radix: 16))}".utf8
                } else {
                    for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter { appendEscape(of: unit) }
                }
            default: self += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
    }

    /// Appends a string of JSON (RFC 8259 §7), in quotes.
    mutating func appendJSON(_ text: String) {
        let isPlain = { (byte: UInt8) in
            byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
        append(UInt8(ascii: "\""))
        if !appendUnchanged(text, if: isPlain) {
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): self += [UInt8(ascii: "\\"), byte]
                case 0x00..<0x20: appendEscape(of: UInt16(byte))
                default: append(byte)
                }
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends a text of plain bytes at once, which is what most texts are. Returns false if it has other bytes, too,
    /// and nothing was appended.
    private mutating func appendUnchanged(_ text: String, if isPlain: (UInt8) -> Bool) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.allSatisfy(isPlain) else { return false }
            append(contentsOf: bytes)
            return true
        }
    }

    /// Appends a code unit as a string of JSON escapes it.
    private mutating func appendEscape(of unit: UInt16) {
        switch unit {
        case 0x09: self += "\\t".utf8
        case 0x0A: self += "\\n".utf8
        case 0x0D: self += "\\r".utf8
        default: self += "\\u\(String(0x1_0000 + Int(unit), radix: 16).dropFirst())".utf8
        }
    }
}
