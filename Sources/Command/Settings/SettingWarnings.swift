import DarkroomEdgePurging
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomWeb
import DarkroomWorkers
import HTTPTypes

extension Settings {
    /// Combinations that are allowed but seldom intended, one sentence each.
    func warnings(_ sources: SettingSources) -> [String] {
        var warnings: [String] = []
        if self.access.openProxy, isReachable, !requiresSignature, self.access.rateLimit == nil {
            warnings.append(
                "\(sources.spelling(of: \.access.openProxy)): any client may send any number of requests to any host. "
                    + "Set rate-limit, unless a proxy in front limits them.")
        }
        if isReachable, self.processing.isolation == .none {
            warnings.append(
                "\(sources.spelling(of: \.processing.isolation)): a flaw in a decoder would expose this process and "
                    + "its secrets to images from outside. Use auto or strict.")
        }
        if self.listeners.trustedProxies.contains(where: { $0.prefixBits == 0 }) {
            warnings.append(
                "\(sources.spelling(of: \.listeners.trustedProxies)): any client may claim any address and so avoid "
                    + "limits per client. List the networks of the proxies only.")
        }
        for pattern in self.origins.allowHosts where HostPattern.isOpen(pattern) {
            warnings.append(
                "\(sources.spelling(of: \.origins.allowHosts, for: "'\(pattern)'")): '\(pattern)' also matches hosts "
                    + "of domains that anyone can register. End it with a dot and a domain, as in '*.example.com'.")
        }
        if self.access.iiif, self.listeners.publicURL == nil, !self.listeners.trustedProxies.isEmpty {
            warnings.append(
                "\(sources.spelling(of: \.access.iiif)): behind a proxy, the ids of /iiif have the wrong scheme or "
                    + "host and are not cached. Set public-url.")
        }
        for edge in self.edges.purgeTo {
            guard let field = edge.vendor.tagField, let sent = self.edges.responseTags.field, field != sent
            else { continue }
            warnings.append(
                "\(sources.spelling(of: \.edges.purgeTo)): \(edge.vendor) removes responses by the tags in "
                    + "\(field.name.rawName), but response-tags sends \(sent.name.rawName).")
        }
        return warnings
    }

    /// Whether other machines can reach the main listener, as far as the settings show.
    private var isReachable: Bool {
        guard case .host(let host, _) = address else { return false }
        return !(IPAddress(host)?.isLoopback ?? (host.lowercased() == "localhost"))
    }
}

extension HostPattern {
    /// Whether a pattern that is not just `*` leaves the domain open, as `*example.com` and `example.*` do.
    fileprivate static func isOpen(_ pattern: String) -> Bool {
        guard let last = pattern.lastIndex(where: { "*?".contains($0) }), !pattern.allSatisfy({ $0 == "*" }) else {
            return false
        }
        // Names have no colons.
        let end = pattern[last...].dropFirst()
        return !pattern.contains(":") && !end.hasPrefix(".") && end.count(where: { $0 == "." }) < 2
    }
}
