package import DarkroomNetwork
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

/// What the operator would have to allow so that a source may be requested.
package struct SourcePermission: Hashable, Sendable {
    /// The host, if ``HostPolicy/allowHosts`` lacks it.
    package var host: SourceURL.Host?
    /// The port, if ``HostPolicy/allowPorts`` lacks it and no network makes it exempt.
    package var port: Int?
    /// The networks that ``AddressPolicy/allowNetworks`` lacks, as far as the addresses are known.
    package var networks: [CIDR] = []

    /// The missing values, each with the name of the setting that lacks it.
    package var settings: [(name: String, value: String)] {
        let rows: [(name: String, value: String?)] = [
            ("allow-hosts", host?.description), ("allow-ports", port?.description),
            ("allow-networks", networks.isEmpty ? nil : networks.map(\.description).joined(separator: ",")),
        ]
        return rows.compactMap { name, value in value.map { (name: name, value: $0) } }
    }
}

extension SourceGuard {
    /// What would have to be allowed for a source; nil if nothing is missing as far as that is known.
    ///
    /// - Parameter found: the addresses of the host. Default: a literal address, and the loopback
    ///   addresses for `localhost`.
    func missingPermission(for url: SourceURL, at found: [IPAddress]? = nil) -> SourcePermission? {
        guard let host = url.host, let port = url.port, url.scheme.isWeb else { return nil }
        let isMapped = mapped.contains(url)
        let found = found ?? host.knownAddresses
        var missing = SourcePermission()
        if !isMapped, !hosts.permits(host: host) { missing.host = host }
        for network in found.flatMap(addresses.missingNetworks) where !missing.networks.contains(network) {
            missing.networks.append(network)
        }
        let isExempt = !missing.networks.isEmpty || !found.isEmpty && found.allSatisfy(addresses.isExempt)
        if !isMapped, !isExempt, !hosts.permits(port: port) { missing.port = port }
        return missing == SourcePermission() ? nil : missing
    }

    /// Logs that a source is refused, and what would have to be allowed.
    func logRefusal(of url: SourceURL, at found: [IPAddress]? = nil) {
        let missing = missingPermission(for: url, at: found)?.settings.map { "\($0.name)=\($0.value)" } ?? []
        logger.info(
            "a source is not allowed",
            metadata: [
                "host": "\(url.host?.description ?? "")", "port": .stringConvertible(url.port ?? 0),
                "missing": "\(missing.joined(separator: " "))",
            ])
    }
}

extension SourceURL.Host {
    /// The addresses that are known without a lookup.
    fileprivate var knownAddresses: [IPAddress] {
        if case .address(let address) = self { return [address] }
        return isLoopback ? [.v4(0x7f00_0001), .v6(1)] : []
    }
}
