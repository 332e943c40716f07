import DarkroomCache
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomQuery
import HTTPTypes
import Hummingbird

/// `DELETE /cache`: purges the sources that match a query.
struct PurgeEndpoint: Sendable {
    /// The short names that sources and prefixes may have.
    var sourceMap = SourceMap()
    let purge: @Sendable (_ target: PurgeTarget, _ soft: Bool, _ dryRun: Bool, _ tiers: TierSet) async -> PurgeReport
    let removeExpired: @Sendable () async -> PurgeReport
    /// Tells the caches in front of the server; nil = there are none.
    var tellEdges: EdgeTelling?
    private let grammar = PurgeGrammar()

    var routes: [Route] {
        [Route("/cache", [.delete]) { request, _ throws(Problem) in try await respond(to: request) }]
    }

    func respond(to request: Request) async throws(Problem) -> Response {
        try request.requireParsableTarget()
        let query = try requireValid(grammar.parse(request.uri.query ?? ""))
        guard let (target, tiers) = try target(of: query) else {
            return .json(PurgeDocument(await removeExpired(), of: query))
        }
        let report = await purge(target, query.isSoft, query.isDryRun, tiers)
        guard report.propagation != .failed else { throw .purgeNotShared }
        var document = PurgeDocument(report, of: query)
        // Not sent to edges: a purge of one tier, which leaves the images valid, and a purge that another purge caused.
        if !query.isDryRun, tiers == .all, query.tellsEdges, request.headers[.purgeChain] == nil {
            document.edges = await tellEdges?(
                EdgeNotice(
                    target: target, isSoft: query.isSoft, propagation: report.propagation?.duration ?? .zero,
                    waits: query.waits))
        }
        return .json(document)
    }

    /// Nil = expired entries.
    private func target(of query: PurgeQuery) throws(Problem) -> (PurgeTarget, TierSet)? {
        switch query.scope {
        case .url(let url): (.source(try requireSource(sourceMap.source(url, givenAs: "url").url)), .all)
        case .prefix(let prefix): (.prefix(try self.prefix(prefix)), .all)
        case .host(let host): (.host(host), .all)
        case .tag(let tag): (.tag(tag), .all)
        case .all(let chosen): (.everything, chosen)
        case .expired: nil
        }
    }

    private func prefix(_ text: String) throws(Problem) -> String {
        do throws(SourceURLError) { return try sourceMap.prefix(text) } catch {
            throw Problem(.invalidURL, error.description, parameter: "prefix")
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
    var dryRun: Bool
    var soft: Bool
    /// Seconds until every server that shares a store with this server has carried the purge out; nil without a shared
    /// store.
    var propagation: Int?
    /// The matching sources; only for a dry run.
    var list: [Source]?
    /// The caches in front of the server, and whether they have confirmed the purge; nil if none receives this purge.
    var edges: [EdgeProgress]?

    init(_ report: PurgeReport, of query: PurgeQuery) {
        sources = report.sourceCount
        entries = report.entries
        bytes = report.bytes
        dryRun = query.isDryRun
        soft = query.isSoft
        propagation = (report.propagation?.duration).map { Int(($0 / .seconds(1)).rounded(.up)) }
        guard query.isDryRun else { return }
        list = report.sources.prefix(Self.maxListed).map {
            Source(url: $0.url.isEmpty ? nil : $0.url, entries: $0.entries, bytes: $0.bytes)
        }
    }

    /// The maximum length of the list. The counts include sources beyond it.
    static let maxListed = 1000
}
