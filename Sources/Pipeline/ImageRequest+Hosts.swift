import DarkroomNetwork
import DarkroomOrigin

extension ImageRequest {
    /// Whether the hosts of its source and of its fallback each match one of the patterns, which are those of ``HostPolicy/allowHosts``.
    /// `local:///` sources have no host, which only `*` matches. Where redirects lead is not told here.
    package func staysWithin(hosts patterns: [String]) -> Bool {
        [source, fallback].compactMap(\.self).allSatisfy { source in
            guard let host = source.host else { return patterns.contains("*") }
            return HostPolicy(allowHosts: patterns).permits(host: host)
        }
    }
}
