/// An IPv4 or IPv6 address as a number, without port, zone or name.
///
/// Different spellings of an address are equal values. ``description`` is the canonical spelling.
public enum IPAddress: Hashable, Sendable {
    /// An IPv4 address, most significant byte first: `127.0.0.1` is `0x7f00_0001`.
    case v4(UInt32)
    /// An IPv6 address, most significant byte first: `::1` is `1`.
    case v6(UInt128)
}

extension IPAddress: CustomStringConvertible {
    /// Dotted decimal for IPv4. RFC 5952 for IPv6: lower-case, longest run of zeros shortened, never dotted, without
    /// brackets.
    public var description: String {
        switch self {
        case .v4(let value): "\(value >> 24).\(value >> 16 & 255).\(value >> 8 & 255).\(value & 255)"
        case .v6(let value):
            Self.text(of: (0..<8).map { UInt16(truncatingIfNeeded: value >> UInt128(112 - 16 * $0)) })
        }
    }

    /// Whether only this machine can reach the address: `127.0.0.0/8` or `::1`.
    package var isLoopback: Bool {
        switch self {
        case .v4(let address): address >> 24 == 127
        case .v6(let address): address == 1
        }
    }

    private static func text(of groups: [UInt16]) -> String {
        func hex(_ slice: ArraySlice<UInt16>) -> String {
            slice.map { String($0, radix: 16) }.joined(separator: ":")
        }
        // The first of the longest runs of two zero groups or more (RFC 5952 §4.2).
        let runs = groups.indices.map { start in groups[start...].prefix { $0 == 0 } }
        guard let zeros = runs.max(by: { $0.count < $1.count }), zeros.count > 1 else { return hex(groups[...]) }
        return hex(groups[..<zeros.startIndex]) + "::" + hex(groups[zeros.endIndex...])
    }
}

extension IPAddress {
    /// Parses the strict form: four decimal numbers without leading zeros, or IPv6 without brackets and zone (RFC 4291
    /// §2.2). Nil for anything else, such as `127.1` and `0x7f.1`, which ``SourceURL`` accepts.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let isV6 = bytes.contains(UInt8(ascii: ":"))
        let address = isV6 ? Self.parseV6(bytes[...]).map(Self.v6) : Self.parseDottedDecimal(bytes[...]).map(Self.v4)
        guard let address else { return nil }
        self = address
    }

    static func parseDottedDecimal(_ text: ArraySlice<UInt8>) -> UInt32? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var value: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0"),
                let number = integer(part, radix: 10), number <= 255
            else { return nil }
            value = value << 8 | UInt32(number)
        }
        return value
    }

    /// The IPv6 parser of the WHATWG URL Standard: at most one `::`, groups of one to four digits, an optional dotted
    /// IPv4 tail.
    static func parseV6(_ text: ArraySlice<UInt8>) -> UInt128? {
        guard let gap = doubleColon(in: text) else {
            guard let groups = groups(of: text), groups.count == 8 else { return nil }
            return value(of: groups)
        }
        let tailText = text[(gap + 2)...]
        guard let head = groups(of: text[..<gap], allowsDottedTail: false), let tail = groups(of: tailText),
            head.count + tail.count <= 7
        else { return nil }
        return value(of: head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail)
    }

    private static func doubleColon(in text: ArraySlice<UInt8>) -> Int? {
        let colon = UInt8(ascii: ":")
        return text.indices.dropLast().first { text[$0] == colon && text[$0 + 1] == colon }
    }

    private static func groups(of text: ArraySlice<UInt8>, allowsDottedTail: Bool = true) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count <= 8 else { return nil }
        var groups: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if allowsDottedTail, index == parts.count - 1, let dotted = parseDottedDecimal(part) {
                groups += [UInt16(dotted >> 16), UInt16(truncatingIfNeeded: dotted)]
            } else if (1...4).contains(part.count), let group = integer(part, radix: 16) {
                groups.append(UInt16(group))
            } else {
                return nil
            }
        }
        return groups
    }

    private static func value(of groups: [UInt16]) -> UInt128 {
        groups.reduce(0) { $0 << 16 | UInt128($1) }
    }

    /// The value of the digits, inexact above 2^32, or nil if there is another character. Unlike `Int.init(_:radix:)`
    /// it accepts no sign.
    static func integer(_ digits: ArraySlice<UInt8>, radix: UInt64) -> UInt64? {
        let ceiling = UInt64(UInt32.max)
        var value: UInt64 = 0
        for byte in digits {
            guard let digit = byte.hexDigitValue.map(UInt64.init), digit < radix else { return nil }
            value = value > ceiling ? value : value * radix + digit
        }
        return value
    }
}
