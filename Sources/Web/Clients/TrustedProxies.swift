import DarkroomNetwork
import DarkroomOrigin
import HTTPTypes

/// The proxies before this server whose word is taken for whom they ask.
struct TrustedProxies: Sendable {
    let networks: [CIDR]

    /// Whether the address is one of theirs.
    func contain(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        return networks.contains { $0.contains(address) }
    }

    /// Who asks, where a connection comes from `peer`.
    ///
    /// Where that is a trusted proxy, `Forwarded` (RFC 7239) or else `X-Forwarded-For` is read from its end, which the proxy wrote, towards
    /// its beginning, which anybody may have written: over trusted proxies up to the first address that is none. What is malformed, hidden
    /// or unknown ends that too, and the last address before it counts. Where a request has both fields they must agree: a proxy that
    /// writes one of them passes on the other as a client made it up; if they do not, the proxy itself is taken for the client.
    func client(of peer: IPAddress, _ fields: HTTPFields) -> IPAddress {
        let peer = peer.unmapped
        guard contain(peer) else { return peer }
        let forwarded = fields[values: .forwarded]
        let list = fields[values: .xForwardedFor]
        let clients = [
            forwarded.isEmpty
                ? nil : client(of: peer, through: forwarded.reversed().lazy.map { ForwardedField($0).addresses }),
            list.isEmpty ? nil : client(of: peer, through: list.reversed().lazy.map(Self.addresses)),
        ].compactMap { $0 }
        guard let client = clients.first, clients.allSatisfy({ $0 == client }) else { return peer }
        return client
    }

    /// - Parameter lines: the last one first.
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

    /// A line of `X-Forwarded-For`, for which no document says what it looks like: IPv6 comes with and without brackets.
    private static func addresses(of line: String) -> [IPAddress?] {
        line.split(separator: ",", omittingEmptySubsequences: false).map { part in
            let text = part.drop { $0 == " " || $0 == "\t" }
            let name = String(text.prefix { $0 != " " && $0 != "\t" })
            guard text.dropFirst(name.count).allSatisfy({ $0 == " " || $0 == "\t" }) else { return nil }
            return NodeName(name)?.address ?? IPAddress(name)?.unmapped
        }
    }
}

extension HTTPField.Name {
    fileprivate static let forwarded = known("Forwarded")
    fileprivate static let xForwardedFor = known("X-Forwarded-For")
}
