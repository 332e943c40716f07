/// Which addresses may be connected to: public unicast ones and the networks that the operator names.
///
/// Pure: no look-ups, no I/O. Rules, in this order:
/// 1. Every IPv4 address embedded in an IPv6 one (mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP) must
///    itself be public or in ``allowNetworks``.
/// 2. An address in ``allowNetworks`` is permitted, and so is the IPv4-mapped form of one.
/// 3. Otherwise it must be globally reachable unicast by the IANA special-purpose registries; for IPv6 that is
///    `2000::/3` without its special blocks, so no transition form is ever public by itself.
public struct AddressPolicy: Hashable, Sendable {
    /// Networks that are permitted although the registries call them special. Default: none.
    public let allowNetworks: [CIDR]

    /// A policy with exceptions for the operator's own networks.
    public init(allowNetworks: [CIDR] = []) {
        self.allowNetworks = allowNetworks
    }

    /// Whether a connection to the address may be opened.
    public func permits(_ address: IPAddress) -> Bool {
        let innerIsFine = address.embeddedIPv4.allSatisfy { isNamed($0) || Self.isPublic($0) }
        return innerIsFine && (isExempt(address) || Self.isPublic(address))
    }

    /// Whether the operator named the address's network, or for an IPv4-mapped address that of the inner one. Such
    /// addresses may also be reached on any port.
    public func isExempt(_ address: IPAddress) -> Bool {
        if let inner = address.mappedIPv4 { return isNamed(inner) }
        return isNamed(address) && address.embeddedIPv4.allSatisfy { isNamed($0) || Self.isPublic($0) }
    }

    private func isNamed(_ address: IPAddress) -> Bool {
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
