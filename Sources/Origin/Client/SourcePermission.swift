package import DarkroomNetwork
import Logging

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
