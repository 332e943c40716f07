public import DarkroomNetwork
import DarkroomOrigin

/// Decides which sources are the same picture. Only identity is filtered: the download always uses the real address.
public protocol CacheKeyFilter: Sendable {
    /// Sources with equal texts share their original and all variants.
    func identity(of source: SourceURL) -> String
}

/// The default: the canonical address. Scheme and host are lower case, a default port and the fragment are dropped.
public struct CanonicalURLFilter: CacheKeyFilter {
    /// A filter without exceptions.
    public init() {}

    public func identity(of source: SourceURL) -> String { source.canonical }
}

/// Leaves out query parameters that do not change the picture: trackers, tokens, or the whole query.
public struct QueryDroppingFilter: CacheKeyFilter, Hashable {
    /// What is left out for the hosts that a pattern names.
    public struct Rule: Hashable, Sendable {
        /// A whole host name; `*` stands for any run of characters, `?` for one.
        public var hostPattern: String
        /// Names of query parameters, with the same wildcards. A lone `*` drops the whole query.
        public var parameterPatterns: [String]

        /// Leaves out these parameters for these hosts.
        public init(hostPattern: String, parameterPatterns: [String]) {
            self.hostPattern = hostPattern
            self.parameterPatterns = parameterPatterns
        }
    }

    /// All whose host fits count together.
    public var rules: [Rule]

    /// Leaves out what any of these rules names.
    public init(rules: [Rule]) {
        self.rules = rules
    }

    public func identity(of source: SourceURL) -> String {
        let host = source.host.map { "\($0)" } ?? ""
        let dropped = rules.filter { Glob($0.hostPattern).matches(host) }
            .flatMap { $0.parameterPatterns.map(Glob.init) }
        guard !dropped.isEmpty, let mark = source.canonical.firstIndex(of: "?") else { return source.canonical }
        let kept = source.canonical[mark...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
            .filter { pair in
                let name = String(pair.prefix { $0 != "=" })
                return !dropped.contains { $0.matches(name) }
            }
        let path = source.canonical[..<mark]
        return kept.isEmpty ? String(path) : "\(path)?\(kept.joined(separator: "&"))"
    }
}
