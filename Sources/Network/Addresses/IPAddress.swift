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
        case .v4(let value):
            (0..<4).map { String(UInt8(truncatingIfNeeded: value >> (24 - 8 * $0))) }.joined(separator: ".")
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
