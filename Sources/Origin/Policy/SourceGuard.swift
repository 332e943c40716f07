/// Decides, hop by hop, whether a source may be asked and at which addresses.
struct SourceGuard: Sendable {
    let hosts: HostPolicy
    let addresses: AddressPolicy
    let resolver: any NameResolver

    /// The addresses to connect to, best first, not empty; the name is resolved here and nowhere else.
    ///
    /// Host and port are judged before anything is looked up. One forbidden address condemns the whole name: an attacker
    /// who mixes a public with a private address must not be lucky.
    func vet(_ url: SourceURL) async throws(OriginError) -> [IPAddress] {
        guard let host = url.host, let port = url.port else { throw .invalidURL(.emptyHost) }
        guard hosts.permits(host: host) else { throw .notAllowed(.host) }
        let portIsListed = hosts.permits(port: port)
        guard portIsListed || !addresses.allowNetworks.isEmpty else { throw .notAllowed(.port) }

        let found = try await resolve(host)
        guard !found.isEmpty else { throw .unreachable(.dns) }
        guard found.allSatisfy(addresses.permits) else { throw .notAllowed(.address) }
        guard portIsListed || found.allSatisfy(addresses.isExempt) else { throw .notAllowed(.port) }
        return found
    }

    private func resolve(_ host: SourceURL.Host) async throws(OriginError) -> [IPAddress] {
        switch host {
        case .address(let address): [address]
        case .name(let name): try await resolver.addresses(of: name)
        }
    }
}
