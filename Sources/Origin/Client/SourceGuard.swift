import DarkroomNetwork
import DarkroomWaiting
import Logging

/// Decides for each hop whether a source may be requested and at which addresses.
struct SourceGuard: Sendable {
    var hosts: HostPolicy
    var addresses: AddressPolicy
    let nameLookup: any NameLookup
    /// Sources whose hosts and ports need not be listed. Their addresses are checked like all other addresses.
    var mapped = SourceMap()
    /// What the operator says to hosts.
    var fields = OriginFields()
    var logger = Logger(label: "darkroom.origin")

    /// Returns the addresses to connect to, best first, at least one. The name is looked up here and nowhere else.
    /// A lookup may remember addresses: they are checked again at each use.
    ///
    /// Host and port are checked before the lookup. One forbidden address makes the whole name forbidden, so that
    /// mixing public and private addresses gains an attacker nothing. Such a name fails like a name without addresses:
    /// clients cannot distinguish names of an internal network from other names. Only the log shows the difference, and
    /// names the settings that would allow the source.
    func vet(
        _ url: SourceURL, for client: String = "", deadline: Deadline = Deadline()
    ) async throws(OriginError) -> [IPAddress] {
        guard let host = url.host, let port = url.port else { throw .invalidURL(.emptyHost) }
        let isMapped = mapped.contains(url)
        if !isMapped, let refusal = refusal(of: host, port) {
            logRefusal(of: url)
            throw refusal
        }
        let found = try await lookUp(host, client, deadline)
        guard !found.isEmpty else { throw .unreachable(.dns) }
        guard let refusal = refusal(of: found, port, isMapped: isMapped) else { return found }
        logRefusal(of: url, at: found)
        // Refusing this machine reveals nothing.
        guard case .name = host, !host.isLoopback, refusal == .notAllowed(.address) else { throw refusal }
        throw .unreachable(.dns)
    }

    /// The error that ``vet(_:)`` would throw, as far as it is known without a lookup.
    func refusal(of url: SourceURL) -> OriginError? {
        guard let host = url.host, let port = url.port else { return .invalidURL(.emptyHost) }
        let isMapped = mapped.contains(url)
        if !isMapped, let refusal = refusal(of: host, port) { return refusal }
        guard case .address(let address) = host else { return nil }
        return refusal(of: [address], port, isMapped: isMapped)
    }

    private func refusal(of host: SourceURL.Host, _ port: Int) -> OriginError? {
        guard hosts.permits(host: host) else { return .notAllowed(.host) }
        let mayBeListed = hosts.permits(port: port) || !addresses.allowNetworks.isEmpty
        return mayBeListed ? nil : .notAllowed(.port)
    }

    private func refusal(of found: [IPAddress], _ port: Int, isMapped: Bool) -> OriginError? {
        guard found.allSatisfy(addresses.permits) else { return .notAllowed(.address) }
        let isListed = isMapped || hosts.permits(port: port) || found.allSatisfy(addresses.isExempt)
        return isListed ? nil : .notAllowed(.port)
    }

    private func lookUp(
        _ host: SourceURL.Host, _ client: String, _ deadline: Deadline
    ) async throws(OriginError) -> [IPAddress] {
        switch host {
        case .address(let address): [address]
        case .name(let name):
            try await deadline.run { [nameLookup] () async throws(OriginError) in
                try await nameLookup.addresses(of: name, for: client)
            }
        }
    }
}
