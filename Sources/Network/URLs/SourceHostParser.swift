import Foundation

/// The host parser of the WHATWG URL Standard for special schemes.
enum SourceHostParser {
    /// - Parameter text: the text between credentials and port, not empty.
    static func parse(_ text: ArraySlice<UInt8>) throws(SourceURLError) -> SourceURL.Host {
        if text.first == UInt8(ascii: "[") {
            guard text.last == UInt8(ascii: "]"), let value = IPAddress.parseV6(text.dropFirst().dropLast()) else {
                throw .invalidHost
            }
            return .address(.v6(value))
        }
        let name = try asciiName(PercentEncoding.decodeLeniently(text))
        var labels = Array(name.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        // A numeric last label means that the host must be an IPv4 address.
        guard let last = labels.last, !last.isEmpty, last.allSatisfy(\.isASCIIDigit) || ipv4Part(last) != nil else {
            return .name(name)
        }
        guard let value = ipv4(labels) else { throw .invalidHost }
        return .address(.v4(value))
    }

    /// The decoded host as lower-case ASCII. Fails if it has a character that host names cannot have.
    static func asciiName(_ decoded: [UInt8]) throws(SourceURLError) -> String {
        guard let text = String(validating: decoded, as: UTF8.self) else { throw .invalidHost }
        var name = text.lowercased()
        if !decoded.allSatisfy({ $0 < 0x80 }) {
            guard let mapped = internationalName(text) else { throw .invalidHost }
            name = mapped.lowercased()
        }
        guard !name.isEmpty, name.utf8.allSatisfy(\.isPlainNameCharacter) else { throw .invalidHost }
        return name
    }

    /// UTS #46 processing by Foundation. Delimiters must not reach its URL parser, where they would end the host.
    private static func internationalName(_ text: String) -> String? {
        guard text.utf8.allSatisfy({ $0 >= 0x80 || $0.isPlainNameCharacter }) else { return nil }
        return URLComponents(string: "http://\(text)/")?.encodedHost
    }

    /// The IPv4 parser of the WHATWG URL Standard: one to four parts, each decimal, octal (`0…`) or hexadecimal
    /// (`0x…`). The last part fills all remaining bytes.
    private static func ipv4(_ labels: [ArraySlice<UInt8>]) -> UInt32? {
        let parts = labels.compactMap(ipv4Part)
        guard (1...4).contains(labels.count), parts.count == labels.count, let last = parts.last,
            parts.dropLast().allSatisfy({ $0 <= 255 }), last < 1 << UInt64(8 * (5 - parts.count))
        else { return nil }
        let head = parts.dropLast().enumerated().reduce(0) { $0 | $1.element << UInt64(24 - 8 * $1.offset) }
        return UInt32(head | last)
    }

    /// The value of one part, or nil if it is not a number. Inexact above 2^32.
    private static func ipv4Part(_ text: ArraySlice<UInt8>) -> UInt64? {
        guard let first = text.first else { return nil }
        guard first == UInt8(ascii: "0"), text.count > 1 else { return IPAddress.integer(text, radix: 10) }
        let second = text[text.startIndex + 1] | 0x20
        return second == UInt8(ascii: "x")
            ? IPAddress.integer(text.dropFirst(2), radix: 16)
            : IPAddress.integer(text.dropFirst(), radix: 8)
    }
}
