package import DarkroomNetwork
import HTTPTypes

/// The reverse proxies whose statements about their clients are trusted.
package struct TrustedProxies: Sendable {
    private let networks: [CIDR]

    package init(networks: [CIDR] = []) {
        self.networks = networks
    }

    func contain(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        return networks.contains { $0.contains(address) }
    }

    /// The client of a request that arrived over a connection from `peer`.
    ///
    /// If the peer is a trusted proxy, `Forwarded` (RFC 7239) or `X-Forwarded-For` is read from its end, which the
    /// proxy wrote, toward its beginning, which the client may have forged: past trusted proxies up to the first other
    /// address. A malformed, obfuscated or unknown element ends the walk, and the last address before it is the client.
    /// If a request has both fields they must agree, because a proxy that writes only one field would forward a forged
    /// other field. If they differ, the proxy itself counts as the client.
    func client(of peer: IPAddress, _ fields: HTTPFields) -> IPAddress {
        let peer = peer.unmapped
        guard contain(peer) else { return peer }
        let forwarded = fields[values: .forwarded]
        let list = fields[values: .xForwardedFor]
        let clients = [
            forwarded.isEmpty
                ? nil : client(of: peer, through: forwarded.reversed().lazy.map(Self.addresses(ofForwarded:))),
            list.isEmpty ? nil : client(of: peer, through: list.reversed().lazy.map(Self.addresses(of:))),
        ].compactMap { $0 }
        guard let client = clients.first, clients.allSatisfy({ $0 == client }) else { return peer }
        return client
    }

    /// - Parameter lines: the last line first.
    private func client(of peer: IPAddress, through lines: some Sequence<[IPAddress?]>) -> IPAddress {
        var client = peer
        for line in lines {
            for address in line.reversed() {
                guard let address else { return client }
                client = address
                guard contain(address) else { return client }
            }
        }
        return client
    }

    /// The addresses in a line of `X-Forwarded-For`. The field has no specification: IPv6 appears with and without
    /// brackets.
    private static func addresses(of line: String) -> [IPAddress?] {
        line.split(separator: ",", omittingEmptySubsequences: false).map { part in
            let name = String(part.trimmingBlanks)
            return IPAddress(node: name) ?? IPAddress(name)?.unmapped
        }
    }
}

extension IPAddress {
    /// The IPv4 address that a dual-stack socket reports as `::ffff:a.b.c.d`; any other address unchanged.
    var unmapped: IPAddress { mappedIPv4 ?? self }

    /// The key of a client in limits: the address, or the /64 network of an IPv6 address, because one customer
    /// typically has that many addresses.
    var clientName: String {
        switch self {
        case .v4: description
        case .v6(let value): "\(IPAddress.v6(value & UInt128.max << 64))/64"
        }
    }
}
