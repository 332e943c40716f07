/// A network in CIDR notation, such as `10.0.0.0/8` (RFC 4632, RFC 4291 §2.3).
public struct CIDR: Hashable, Sendable {
    /// The first address of the network.
    public let address: IPAddress
    /// The number of leading bits that all its addresses share: 0–32 for IPv4, 0–128 for IPv6.
    public let prefixBits: Int

    /// Parses `address/prefix` in the strict form of ``IPAddress/init(_:)``. An address without prefix is a network of
    /// one.
    ///
    /// - Throws: ``CIDRError`` for a malformed address or prefix, and for host bits that are set, since `10.0.0.1/8`
    ///   is more likely a mistake than a request for all of `10.0.0.0/8`.
    public init(parsing text: String) throws(CIDRError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { throw .badAddress(text) }
        let width = address.bitWidth
        let prefixText = parts.count == 2 ? String(parts[1]) : String(width)
        guard let bits = Int(digits: prefixText), bits <= width
        else { throw .badPrefix(text, maximumBits: width) }
        guard address.masked(to: bits) == address else {
            throw .hostBitsSet(text, network: "\(address.masked(to: bits))/\(bits)")
        }
        self.init(address, bits)
    }

    /// A network that is known to be valid, such as a row of a table.
    init(_ address: IPAddress, _ prefixBits: Int) {
        self.address = address
        self.prefixBits = prefixBits
    }

    /// Whether the network contains the address. Families never mix: `::ffff:10.0.0.1` is not in `10.0.0.0/8`.
    public func contains(_ candidate: IPAddress) -> Bool {
        candidate.bitWidth == address.bitWidth && candidate.masked(to: prefixBits) == address
    }
}

extension CIDR: CustomStringConvertible {
    /// The form that ``init(parsing:)`` parses.
    public var description: String { "\(address)/\(prefixBits)" }
}

/// Why a text is not a network. Descriptions state what is allowed.
public enum CIDRError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The part before the slash is not an IPv4 or IPv6 address.
    case badAddress(String)
    /// The part after the slash is not a number from 0 to `maximumBits`.
    case badPrefix(String, maximumBits: Int)
    /// The address is not the first of its network, which is `network`.
    case hostBitsSet(String, network: String)

    /// The mistake and the allowed form.
    public var description: String {
        switch self {
        case .badAddress(let text):
            "'\(text)' is not a network; give an IPv4 or IPv6 address and a prefix, such as 10.0.0.0/8 or fd00::/8"
        case .badPrefix(let text, let maximumBits):
            "'\(text)' has no usable prefix; give a whole number from 0 to \(maximumBits) after the slash"
        case .hostBitsSet(let text, let network):
            "'\(text)' has bits set beyond its prefix; the network is \(network)"
        }
    }
}

extension IPAddress {
    fileprivate var bitWidth: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    fileprivate func masked(to prefixBits: Int) -> IPAddress {
        switch self {
        // Swift's `<<` yields zero for a shift of the full width, which is the mask of /0.
        case .v4(let value): .v4(value & (UInt32.max << UInt32(32 - prefixBits)))
        case .v6(let value): .v6(value & (UInt128.max << UInt128(128 - prefixBits)))
        }
    }
}
