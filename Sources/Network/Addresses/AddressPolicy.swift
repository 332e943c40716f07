/// The addresses that may be connected to: public unicast addresses and the operator's own networks.
///
/// Rules, in this order:
/// 1. Every IPv4 address embedded in an IPv6 address (mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP) must
///    itself be public or in ``allowNetworks``.
/// 2. An address in ``allowNetworks`` is permitted, also in its IPv4-mapped form.
/// 3. Any other address must be globally reachable unicast according to the IANA special-purpose registries (RFC 6890).
///    For IPv6 that is `2000::/3` without its special blocks, so that no transition form is public by itself.
public struct AddressPolicy: Hashable, Sendable {
    /// Networks that are permitted although they are not public. Default: none.
    public var allowNetworks: [CIDR]

    /// A policy that permits public addresses and these networks.
    public init(allowNetworks: [CIDR] = []) {
        self.allowNetworks = allowNetworks
    }

    /// Whether a connection to the address may be opened.
    public func permits(_ address: IPAddress) -> Bool {
        let innerIsPermitted = address.embeddedIPv4.allSatisfy { isAllowed($0) || Self.isPublic($0) }
        return innerIsPermitted && (isExempt(address) || Self.isPublic(address))
    }

    /// Whether the address, or the inner address of an IPv4-mapped address, is in ``allowNetworks``. Such addresses may
    /// be reached on any port.
    public func isExempt(_ address: IPAddress) -> Bool {
        if let inner = address.mappedIPv4 { return isAllowed(inner) }
        return isAllowed(address) && address.embeddedIPv4.allSatisfy { isAllowed($0) || Self.isPublic($0) }
    }

    /// The smallest networks that ``allowNetworks`` lacks to permit the address; all of `127.0.0.0/8` for a loopback
    /// address. Empty if the address is permitted.
    package func missingNetworks(for address: IPAddress) -> [CIDR] {
        guard !permits(address) else { return [] }
        if let inner = address.mappedIPv4 { return [.smallest(with: inner)] }
        return ([address] + address.embeddedIPv4).filter { !isAllowed($0) && !Self.isPublic($0) }.map(CIDR.smallest)
    }

    private func isAllowed(_ address: IPAddress) -> Bool {
        allowNetworks.contains { $0.contains(address) }
    }

    private static func isPublic(_ address: IPAddress) -> Bool {
        switch address {
        case .v4:
            !SpecialPurposeNetworks.v4.contains { $0.contains(address) }
        case .v6:
            SpecialPurposeNetworks.v6GlobalUnicast.contains(address)
                && !SpecialPurposeNetworks.v6.contains { $0.contains(address) }
        }
    }
}

extension CIDR {
    fileprivate static func smallest(with address: IPAddress) -> CIDR {
        switch address {
        case .v4 where address.isLoopback: CIDR(.v4(127 << 24), 8)
        case .v4: CIDR(address, 32)
        case .v6: CIDR(address, 128)
        }
    }
}

/// The networks without public origins.
///
/// Sources: the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its updates), the multicast
/// registries (RFC 5771, RFC 4291 §2.7), and RFC 4291 §2.4 for global unicast. Networks that IANA marks as globally
/// reachable but that serve a protocol rather than hosts (AS112, AMT, anycast relays) are included.
enum SpecialPurposeNetworks {
    static let v4: [CIDR] = [
        v4(0, 0, 0, 0, 8),  // "this network", RFC 791
        v4(10, 0, 0, 0, 8),  // private use, RFC 1918
        v4(100, 64, 0, 0, 10),  // shared address space (carrier-grade NAT), RFC 6598
        v4(127, 0, 0, 0, 8),  // loopback, RFC 1122
        v4(168, 63, 129, 16, 32),  // host agent of a cloud provider, public in form only
        v4(169, 254, 0, 0, 16),  // link-local and cloud metadata, RFC 3927
        v4(172, 16, 0, 0, 12),  // private use, RFC 1918
        v4(192, 0, 0, 0, 24),  // IETF protocol assignments, RFC 6890
        v4(192, 0, 2, 0, 24),  // documentation TEST-NET-1, RFC 5737
        v4(192, 31, 196, 0, 24),  // AS112-v4, RFC 7535
        v4(192, 52, 193, 0, 24),  // AMT, RFC 7450
        v4(192, 88, 99, 0, 24),  // deprecated 6to4 relay anycast, RFC 7526
        v4(192, 168, 0, 0, 16),  // private use, RFC 1918
        v4(192, 175, 48, 0, 24),  // AS112 direct delegation, RFC 7534
        v4(198, 18, 0, 0, 15),  // benchmarking, RFC 2544
        v4(198, 51, 100, 0, 24),  // documentation TEST-NET-2, RFC 5737
        v4(203, 0, 113, 0, 24),  // documentation TEST-NET-3, RFC 5737
        v4(224, 0, 0, 0, 4),  // multicast, RFC 5771
        v4(240, 0, 0, 0, 4),  // reserved, RFC 1112, with limited broadcast, RFC 8190
    ]

    /// The part of IPv6 that is assigned to hosts of the public internet. Unspecified, loopback, discard-only, unique
    /// local, link-local, site-local, SRv6 and multicast addresses are outside.
    static let v6GlobalUnicast = v6(0x2000, 0, 0, 3)

    /// The networks within ``v6GlobalUnicast`` without public origins.
    static let v6: [CIDR] = [
        v6(0x2001, 0, 0, 23),  // IETF protocol assignments, RFC 2928: Teredo, benchmarking, AMT, AS112, ORCHID, DET
        v6(0x2001, 0x0db8, 0, 32),  // documentation, RFC 3849
        v6(0x2002, 0, 0, 16),  // 6to4, RFC 3056
        v6(0x2620, 0x004f, 0x8000, 48),  // AS112 direct delegation, RFC 7534
        v6(0x3fff, 0, 0, 20),  // documentation, RFC 9637
    ]

    private static func v4(_ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ prefixBits: Int) -> CIDR {
        CIDR(.v4(a << 24 | b << 16 | c << 8 | d), prefixBits)
    }

    private static func v6(_ a: UInt128, _ b: UInt128, _ c: UInt128, _ prefixBits: Int) -> CIDR {
        CIDR(.v6(a << 112 | b << 96 | c << 80), prefixBits)
    }
}

extension IPAddress {
    /// The IPv4 addresses that a relay, translator or dual stack may extract from an IPv6 address.
    ///
    /// Known forms: IPv4-mapped and IPv4-compatible (RFC 4291 §2.5.5), IPv4-translated (RFC 2765), NAT64 with the
    /// well-known and the local prefix, in both of its layouts (RFC 6052, RFC 8215), 6to4 (RFC 3056), Teredo with its
    /// server and its obfuscated client (RFC 4380 §4), and ISATAP (RFC 5214 §6.1).
    var embeddedIPv4: [IPAddress] {
        guard case .v6(let value) = self else { return [] }
        let group = { (index: Int) in UInt16(truncatingIfNeeded: value >> UInt128(112 - 16 * index)) }
        let word = { (shift: UInt128) in IPAddress.v4(UInt32(truncatingIfNeeded: value >> shift)) }
        let last = word(0)

        switch (group(0), group(1), group(2)) {
        case (0, 0, 0) where value <= 1:
            return []  // the unspecified and the loopback address
        case (0, 0, 0) where [0, 0xffff, 0xffff_0000].contains(value >> 32):
            return [last]  // compatible, mapped, translated
        case (0x64, 0xff9b, 0) where (value << 48) >> 80 == 0:
            return [last]
        case (0x64, 0xff9b, 1):
            return [last, Self.nat64LocalPrefix(value)]
        case (0x2002, _, _):
            return [word(80)]
        case (0x2001, 0, _):
            return [word(64), .v4(~UInt32(truncatingIfNeeded: value))]
        case _ where UInt32(truncatingIfNeeded: value >> 32) & 0xfdff_ffff == 0x5efe:
            return [last]
        default:
            return []
        }
    }

    /// The inner address of an IPv4-mapped address (`::ffff:a.b.c.d`), which operating systems treat as the same host.
    package var mappedIPv4: IPAddress? {
        guard case .v6(let value) = self, value >> 32 == 0xffff else { return nil }
        return .v4(UInt32(truncatingIfNeeded: value))
    }

    /// RFC 6052 §2.2 for a /48: 16 bits before and 16 bits after the reserved octet at bits 64–71.
    private static func nat64LocalPrefix(_ value: UInt128) -> IPAddress {
        let high = UInt32(truncatingIfNeeded: value >> 64) & 0xffff
        let low = UInt32(truncatingIfNeeded: value >> 40) & 0xffff
        return .v4(high << 16 | low)
    }
}
