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
