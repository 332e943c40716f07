import DarkroomHTTPCaching
import DarkroomMachine
import DarkroomNetwork
import DarkroomPipeline
import DarkroomWeb
import Foundation

struct CacheSettings: SettingTheme {
    let title = "Caches"

    let directory = Setting(
        "cache-dir", .text("PATH", "the path of a folder"), default: defaultDirectory,
        shownAs: "the platform's cache folder",
        help: """
            Folder of the disk cache. Other users must not be able to write to it, and one server may use it at a \
            time.
            """)
    let diskBytes = Setting(
        "cache-disk-bytes", .bytes(atLeast: 0), default: 10 << 30,
        help: "Byte budget of the disk cache: blocks of files, index and log. 0 disables it.")
    let memoryBytes = Setting(
        "cache-memory-bytes", .bytes(atLeast: 0), default: ResourceDefaults.current.memoryCacheBytes,
        shownAs: "256MiB, or an eighth of the usable memory if that is less",
        help: "Byte budget of the memory cache. 0 disables it.")
    let decodedBytes = Setting(
        "cache-decoded-bytes", .bytes(atLeast: 0), default: ResourceDefaults.current.decodedCacheBytes,
        shownAs: "128MiB, or a sixteenth of the usable memory if that is less",
        help: "Byte budget of the cache of decoded originals. 0 disables it.")
    let maxAge = Setting(
        "cache-max-age", .optional(.duration()), default: nil,
        help: """
            Time since their last use after which entries of the disk cache are removed, and age at which objects of \
            shared-store are ignored. By default, entries do not expire, and objects are ignored after 30 days.
            """)
    let keyDropQuery = Setting(
        "cache-key-drop-query", .queryDroppingRules, default: [],
        help: """
            Query parameters of source URLs to leave out of cache keys, as rules of host and parameter globs such as \
            *.example.com=utm_*,token. The parameter * leaves out the whole query.
            """)

    /// `$XDG_CACHE_HOME/darkroom` or `~/.cache/darkroom`; on macOS `~/Library/Caches/darkroom`.
    private static var defaultDirectory: String {
        let home = FileManager.default.homeDirectoryForCurrentUser
        #if os(macOS)
            return home.appendingPathComponent("Library/Caches/darkroom").path
        #else
            if let cache = ProcessInfo.processInfo.environment["XDG_CACHE_HOME"], cache.hasPrefix("/") {
                return "\(cache)/darkroom"
            }
            return home.appendingPathComponent(".cache/darkroom").path
        #endif
    }
}

struct FreshnessSettings: SettingTheme {
    let title = "Freshness"

    let respectOrigin = Setting(
        "respect-origin", .boolean, default: FreshnessPolicy().respectsOrigin,
        help: """
            Whether to obey the caching header fields of origins. With false, every original is stored and stays \
            fresh for default-fresh.
            """)
    let defaultFresh = Setting(
        "default-fresh", .duration(allowsZero: true), default: FreshnessPolicy().defaultFresh,
        help: """
            Freshness lifetime of originals whose origin states none and sends no Last-Modified. With Last-Modified, \
            it is a tenth of the time since then, at most a day; min-fresh raises it.
            """)
    let minFresh = Setting(
        "min-fresh", .duration(allowsZero: true), default: FreshnessPolicy().minFresh,
        help: "Minimum freshness lifetime. Shorter lifetimes of origins are raised to it; none is longer than 365d.")
    let staleWhileRevalidate = Setting(
        "stale-while-revalidate", .duration(allowsZero: true), default: FreshnessPolicy().staleWhileRevalidate,
        help: "Time for which a stale response may be served while it is revalidated, if the origin states none.")
    let staleIfError = Setting(
        "stale-if-error", .duration(allowsZero: true), default: FreshnessPolicy().staleIfError,
        help: "Time for which a stale response may be served while the origin fails, if the origin states none.")
    let failureMemory = Setting(
        "failure-memory", .boolean, default: FreshnessPolicy().remembersFailures,
        help: """
            Whether a source whose origin failed without stating a freshness lifetime is requested again only after 1 \
            to 60 seconds, or Retry-After. With false, each request contacts the origin, as in RFC 9111.
            """)
    let variantMaxAge = Setting(
        "variant-max-age", .duration(allowsZero: true), default: .seconds(365 * 86_400), isReloadable: true,
        help: "Maximum max-age of responses to clients.")
    let missingMaxAge = Setting(
        "missing-max-age", .duration(allowsZero: true), default: WebConfiguration.default.missingMaxAge,
        isReloadable: true,
        help: """
            Longest lifetime in browsers and caches in front of a 404 or 410 for an image that its origin does not \
            have; the origin may state a shorter one, or forbid to store it. With 0, no cache stores it, so that each \
            visitor of a dead link asks this server.
            """)
}

extension SettingKind where Value == [QueryDroppingFilter.Rule] {
    /// `HOSTGLOB=NAMEGLOB,NAMEGLOB,…`, where a member without `=` is a further name of the previous rule. In YAML also
    /// a map of host globs to name globs.
    static var queryDroppingRules: SettingKind {
        let grammar = "rules of the form HOSTGLOB=NAMEGLOB,NAMEGLOB such as *.example.com=utm_*,token"
        return SettingKind("HOSTGLOB=NAMEGLOB,...", grammar, members: \.text) { value throws(SettingRefusal) in
            if case .map(let hosts) = value { return try hosts.map(rule) }
            var rules: [QueryDroppingFilter.Rule] = []
            for member in value.members {
                guard let text = member.text, !text.isEmpty else {
                    throw .expected(grammar, got: member.text ?? member.shape)
                }
                let halves = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
                if halves.count == 1, !rules.isEmpty {
                    rules[rules.count - 1].parameterPatterns.append(text)
                } else if halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty {
                    rules.append(try rule(of: halves[0], dropping: [halves[1]]))
                } else {
                    throw .expected(grammar, got: text)
                }
            }
            return rules
        }
    }

    private static func rule(
        _ host: String, _ names: SettingValue
    ) throws(SettingRefusal) -> QueryDroppingFilter.Rule {
        let patterns = names.members.compactMap(\.text)
        guard !patterns.isEmpty, patterns.count == names.members.count, !patterns.contains("") else {
            throw .because("the host '\(host.prefix(100))' needs one or more globs of parameter names.")
        }
        return try rule(of: host, dropping: patterns)
    }

    private static func rule(
        of host: String, dropping patterns: [String]
    ) throws(SettingRefusal) -> QueryDroppingFilter.Rule {
        let grammar = "rules whose host is \(HostPattern.grammar)"
        return QueryDroppingFilter.Rule(
            hostPattern: try HostPattern(setting: host, grammar: grammar).text, parameterPatterns: patterns)
    }
}

extension QueryDroppingFilter.Rule {
    fileprivate var text: String { "\(hostPattern)=\(parameterPatterns.joined(separator: ","))" }
}
