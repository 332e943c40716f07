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
        guard !allowHosts.isEmpty else { return true }
        var name = host.description[...]
        if name.last == "." { name.removeLast() }
        return allowHosts.contains { Self.matches(Array(name.utf8), pattern: Array($0.utf8)) }
    }

    /// Whether the port is on the list.
    public func permits(port: Int) -> Bool {
        allowPorts.contains(port)
    }

    /// Glob matching that goes back to the last star only, so that no pattern costs more than |name|·|pattern|.
    private static func matches(_ name: [UInt8], pattern: [UInt8]) -> Bool {
        var (position, index) = (0, 0)
        var lastStar: (index: Int, position: Int)?
        while position < name.count {
            if index < pattern.count, pattern[index] == UInt8(ascii: "*") {
                lastStar = (index, position)
                index += 1
            } else if index < pattern.count, pattern[index] == UInt8(ascii: "?") || pattern[index] == name[position] {
                (position, index) = (position + 1, index + 1)
            } else if let star = lastStar {
                lastStar = (star.index, star.position + 1)
                (position, index) = (star.position + 1, star.index + 1)
            } else {
                return false
            }
        }
        return pattern[index...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
