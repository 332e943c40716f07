public import DarkroomNetwork

/// Decides which sources are the same image. It affects cache keys only: downloads use the real address.
public protocol CacheKeyFilter: Sendable {
    /// Returns the source's identity. Sources with equal identities share their original and all variants.
    func identity(of source: SourceURL) -> String
}

/// The default filter: the canonical address. Scheme and host are lowercase; a default port and the fragment are
/// dropped.
public struct CanonicalURLFilter: CacheKeyFilter {
    public init() {}

    public func identity(of source: SourceURL) -> String { source.canonical }
}

/// Drops query parameters that do not change the image, such as tracking parameters and tokens, or the whole query.
public struct QueryDroppingFilter: CacheKeyFilter, Hashable {
    /// The parameters that are dropped for the hosts that match a pattern.
    public struct Rule: Hashable, Sendable {
        /// A pattern for the whole host name: `*` matches any run of characters, `?` any one character.
        public var hostPattern: String
        /// Patterns for names of query parameters, with the same wildcards. The single pattern `*` drops the whole
        /// query.
        public var parameterPatterns: [String]

        public init(hostPattern: String, parameterPatterns: [String]) {
            self.hostPattern = hostPattern
            self.parameterPatterns = parameterPatterns
        }
    }

    /// The rules. All that match a host apply together.
    public var rules: [Rule]

    public init(rules: [Rule]) {
        self.rules = rules
    }

    public func identity(of source: SourceURL) -> String {
        let host = source.host ?? .name("")
        let dropped = rules.filter { host.matches(anyOf: [$0.hostPattern]) }
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
