/// The hosts and ports that may be asked, checked by name before any DNS lookup.
public struct HostPolicy: Hashable, Sendable {
    /// Patterns of whole host names, kept in lower case: `*` matches any characters, dots included, `?` one. IPv6
    /// addresses are matched without brackets. Empty: any host.
    public var allowHosts: [String] { didSet { allowHosts = allowHosts.map { $0.lowercased() } } }
    /// The ports that may be connected to. Addresses of ``AddressPolicy/allowNetworks`` are exempt.
    public var allowPorts: Set<Int>

    /// A policy for any host and the ports 80 and 443 unless parameters say otherwise. Letter case is ignored.
    public init(allowHosts: [String] = [], allowPorts: Set<Int> = [80, 443]) {
        self.allowHosts = allowHosts.map { $0.lowercased() }
        self.allowPorts = allowPorts
    }

    /// Whether the host matches a pattern. A final dot, which makes a DNS name absolute, is ignored.
    public func permits(host: SourceURL.Host) -> Bool {
        allowHosts.isEmpty || host.matches(anyOf: allowHosts)
    }

    /// Whether the port is allowed.
    public func permits(port: Int) -> Bool {
        allowPorts.contains(port)
    }
}

extension SourceURL.Host {
    /// Whether the host means this machine everywhere: a loopback address, or a name of RFC 6761 §6.3.
    package var isLoopback: Bool {
        switch self {
        case .address(let address): return address.isLoopback
        case .name(let name):
            let name = name.hasSuffix(".") ? String(name.dropLast()) : name
            return name == "localhost" || name.hasSuffix(".localhost")
        }
    }

    /// Whether a pattern, as in ``HostPolicy/allowHosts``, matches the host without its final dot.
    package func matches(anyOf patterns: [String]) -> Bool {
        var name = description[...]
        if name.last == "." { name.removeLast() }
        return patterns.contains { Glob($0).matches(name) }
    }
}

extension SourceURL {
    /// Whether the host matches one of the patterns, which have the syntax of ``HostPolicy/allowHosts``. An
    /// `s3://name/…` source matches only patterns that begin with `s3://`, and `*`. Uploads, `local:///` and
    /// `color:///` sources have no host and match only `*`. Redirects do not count.
    package func staysWithin(hosts patterns: [String]) -> Bool {
        guard !patterns.contains("*") else { return true }
        switch (scheme, host) {
        case (.http, let host?), (.https, let host?): return HostPolicy(allowHosts: patterns).permits(host: host)
        case (.s3, _): return patterns.contains { $0.hasPrefix("s3://") && Glob($0).matches(origin) }
        case (.local, _), (.upload, _), (.color, _), (_, nil): return false
        }
    }
}
