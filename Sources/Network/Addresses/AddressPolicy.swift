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
    public let allowNetworks: [CIDR]

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
