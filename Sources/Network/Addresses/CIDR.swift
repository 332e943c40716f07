/// A network: an address whose host bits are zero and the length of its prefix, such as `10.0.0.0/8`.
public struct CIDR: Hashable, Sendable {
    /// The first address of the network.
    public let address: IPAddress
    /// How many leading bits all its addresses share: 0–32 for IPv4, 0–128 for IPv6.
    public let prefixBits: Int

    /// Reads `address/prefix` in the strict form of ``IPAddress/init(_:)``. A bare address is a network of one.
    ///
    /// - Throws: ``CIDRError`` for a malformed address or prefix, and for host bits that are set: `10.0.0.1/8` is
    ///   more likely a slip than a wish for all of `10.0.0.0/8`.
    public init(parsing text: String) throws(CIDRError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { throw .badAddress(text) }
        let width = address.bitWidth
        let prefixText = parts.count == 2 ? String(parts[1]) : String(width)
        guard prefixText.utf8.allSatisfy(\.isASCIIDigit), let bits = Int(prefixText), bits <= width
        else { throw .badPrefix(text, maximumBits: width) }
        guard address.masked(to: bits) == address else {
            throw .hostBitsSet(text, network: "\(address.masked(to: bits))/\(bits)")
        }
        self.init(address, bits)
    }

    /// A network known to be well-formed, such as a row of a table in this module.
    init(_ address: IPAddress, _ prefixBits: Int) {
        self.address = address
        self.prefixBits = prefixBits
    }

    /// Whether the address lies in the network. Families never mix: `::ffff:10.0.0.1` is not in `10.0.0.0/8`.
    public func contains(_ candidate: IPAddress) -> Bool {
        candidate.bitWidth == address.bitWidth && candidate.masked(to: prefixBits) == address
    }
}

extension CIDR: CustomStringConvertible {
    /// The form that ``init(parsing:)`` reads.
    public var description: String { "\(address)/\(prefixBits)" }
}

/// Why a text is no network; each description says what is allowed.
public enum CIDRError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What stands before the slash is no IPv4 or IPv6 address.
    case badAddress(String)
    /// What stands after the slash is no number from 0 to `maximumBits`.
    case badPrefix(String, maximumBits: Int)
    /// The address is not the first of its network; `network` is what may have been meant.
    case hostBitsSet(String, network: String)

    /// What is wrong with the text and what is allowed.
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
