import DarkroomCache
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomQuery
import HTTPTypes
import Hummingbird

/// `DELETE /cache`: purges the sources that match a query.
struct PurgeEndpoint: Sendable {
    let purge: @Sendable (_ target: PurgeTarget, _ soft: Bool, _ dryRun: Bool, _ tiers: TierSet) async -> PurgeReport
    let removeExpired: @Sendable () async -> PurgeReport
    private let grammar = PurgeGrammar()
    private let sourceMap: SourceMap

    /// - Parameter sourceMap: the short names that sources and prefixes may have.
    init(
        sourceMap: SourceMap = SourceMap(),
        purge: @escaping @Sendable (PurgeTarget, Bool, Bool, TierSet) async -> PurgeReport,
        removeExpired: @escaping @Sendable () async -> PurgeReport
    ) {
        self.sourceMap = sourceMap
        self.purge = purge
        self.removeExpired = removeExpired
    }

    var routes: [Route] {
        [Route("/cache", [.delete]) { request, _ throws(Problem) in try await respond(to: request) }]
    }

    func respond(to request: Request) async throws(Problem) -> Response {
        try request.requireParsableTarget()
        let query: PurgeQuery
        do throws(InvalidParameter) {
            query = try grammar.parse(request.uri.query ?? "")
        } catch {
            throw Problem(error)
        }
        let report = try await run(query)
        guard report.propagation != .failed else { throw .purgeNotShared }
        return .json(PurgeDocument(report, of: query))
    }

    private func run(_ query: PurgeQuery) async throws(Problem) -> PurgeReport {
        let target: PurgeTarget
        var tiers = TierSet.all
        switch query.scope {
        case .url(let url): target = .source(try source(url))
        case .prefix(let prefix): target = .prefix(try self.prefix(prefix))
        case .host(let host): target = .host(host)
        case .tag(let tag): target = .tag(tag)
        case .all(let chosen): (target, tiers) = (.everything, chosen)
        case .expired: return await removeExpired()
        }
        return await purge(target, query.isSoft, query.isDryRun, tiers)
    }

    private func prefix(_ text: String) throws(Problem) -> String {
        do throws(SourceURLError) { return try sourceMap.prefix(text) } catch {
            throw Problem(.invalidURL, error.description, parameter: "prefix")
        }
    }

    private func source(_ url: String) throws(Problem) -> SourceURL {
        do throws(InvalidSourceURL) { return try sourceMap.source(url, givenAs: "url").url } catch {
            throw Problem(error)
        }
    }
}

/// The result of a purge as JSON.
struct PurgeDocument: Codable, Hashable {
    /// A source and its cached entries.
    struct Source: Codable, Hashable {
        /// Nil when no remaining entry records the URL.
        var url: String?
        var entries: Int
        var bytes: Int
    }

    var sources: Int
    var entries: Int
    var bytes: Int
    var isDryRun: Bool
    var isSoft: Bool
    /// Seconds until every server that shares a store with this one has carried the purge out; nil if none does.
    var propagation: Int?
    /// The matching sources; only for a dry run.
    var list: [Source]?

    private enum CodingKeys: String, CodingKey {
        case sources, entries, bytes
        case isDryRun = "dry_run"
        case isSoft = "soft"
        case propagation, list
    }

    init(_ report: PurgeReport, of query: PurgeQuery) {
        sources = report.sourceCount
        entries = report.entries
        bytes = report.bytes
        isDryRun = query.isDryRun
        isSoft = query.isSoft
        if case .within(let duration)? = report.propagation { propagation = Int((duration / .seconds(1)).rounded(.up)) }
        guard query.isDryRun else { return }
        list = report.sources.prefix(Self.maxListed).map {
            Source(url: $0.url.isEmpty ? nil : $0.url, entries: $0.entries, bytes: $0.bytes)
        }
    }

    /// The maximum length of the list. The counts include sources beyond it.
    static let maxListed = 1000
}
