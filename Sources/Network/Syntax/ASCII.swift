/// Character classes of ASCII, which the grammars of URLs and HTTP fields are made of.
extension UInt8 {
    /// `a`…`z` and `A`…`Z`.
    package var isASCIILetter: Bool { (0x61...0x7a).contains(self | 0x20) }

    /// `a`…`z`.
    package var isASCIILowercase: Bool { (0x61...0x7a).contains(self) }

    /// `0`…`9`.
    package var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }

    /// `0`…`9` and `a`…`f`.
    package var isLowercaseHexDigit: Bool { isASCIIDigit || (0x61...0x66).contains(self) }

    /// The value of a hexadecimal digit in either case, or nil for any other byte.
    package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// A letter, a digit, `-`, `.` or `_`: characters that need no quoting in URLs, file names, logs and header fields.
    package var isPlainNameCharacter: Bool {
        isASCIIAlphanumeric || self == UInt8(ascii: "-") || self == UInt8(ascii: ".") || self == UInt8(ascii: "_")
    }

    /// `unreserved` of RFC 3986 §2.3: what never needs percent-encoding.
    package var isURLUnreserved: Bool { isPlainNameCharacter || self == UInt8(ascii: "~") }

    /// `tchar` of RFC 9110 §5.6.2: the characters of a token in an HTTP field.
    package var isTokenCharacter: Bool {
        isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(self)
    }

    /// A space or a horizontal tab: the optional whitespace of HTTP fields (RFC 9110 §5.6.3).
    package var isBlank: Bool { self == 0x20 || self == 0x09 }
}

extension Sequence<UInt8> {
    /// Two lowercase hexadecimal digits for each byte.
    package var hexText: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}

extension [UInt8] {
    /// The bytes that pairs of hexadecimal digits in either case stand for; nil for other text.
    package init?(hex text: some Collection<UInt8>) {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension Int {
    /// A number in ASCII digits, without a sign, that fits.
    package init?(digits text: some StringProtocol) {
        guard text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        self.init(text)
    }
}
