/// Which hosts and ports may be asked, judged by name before anything is looked up.
public struct HostPolicy: Hashable, Sendable {
    /// Patterns over whole host names: `*` stands for any characters, dots included, `?` for one. Empty: any host.
    public let allowHosts: [String]
    /// The ports that may be connected to. Addresses of ``AddressPolicy/allowNetworks`` are exempt.
    public let allowPorts: Set<Int>

    /// - Parameters:
    ///   - allowHosts: host patterns, letter case is ignored; IPv6 addresses are matched without brackets.
    ///   - allowPorts: default 80 and 443.
    public init(allowHosts: [String] = [], allowPorts: Set<Int> = [80, 443]) {
        self.allowHosts = allowHosts.map { $0.lowercased() }
        self.allowPorts = allowPorts
    }

    /// Whether the host matches a pattern. A final dot, which DNS reads as "absolute", does not count.
    public func permits(host: SourceURL.Host) -> Bool {
        allowHosts.isEmpty || host.matches(anyOf: allowHosts)
    }

    /// Whether the port is on the list.
    public func permits(port: Int) -> Bool {
        allowPorts.contains(port)
    }
}

extension SourceURL.Host {
    /// Whether one of the patterns, which are those of ``HostPolicy/allowHosts``, matches the host without final dot.
    package func matches(anyOf patterns: [String]) -> Bool {
        var name = description[...]
        if name.last == "." { name.removeLast() }
        return patterns.contains { Glob($0).matches(name) }
    }
}
