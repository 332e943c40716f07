package import DarkroomCache
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomQuery
import DarkroomRequests
import HTTPTypes
import Hummingbird
import Synchronization

/// `DELETE /cache`: purges the sources that match a query.
struct PurgeEndpoint: Sendable {
    /// Purges sources, and reports what was purged so far: first once the other servers know of the purge.
    typealias Purge =
        @Sendable (
            _ target: PurgeTarget, _ soft: Bool, _ dryRun: Bool, _ tiers: TierSet,
            _ progress: @escaping @Sendable (PurgeReport) -> Void
        ) async -> PurgeReport

    /// The short names that sources and prefixes may have.
    var sourceMap = SourceMap()
    let purge: Purge
    let removeExpired: @Sendable () async -> PurgeReport
    /// Tells the caches in front of the server; nil = there are none.
    var tellEdges: EdgeTelling?
    /// The clock of ``patience``.
    var clock: any Clock<Duration> = ContinuousClock()
    /// How long a request waits for its purge, unless it asks to wait for all of it. Proxies give up after 30 s.
    private static let patience = Duration.seconds(10)
    private let grammar = PurgeGrammar()

    var routes: [Route] {
        [Route("/cache", [.delete]) { request, _ throws(Problem) in try await respond(to: request) }]
    }

    func respond(to request: Request) async throws(Problem) -> Response {
        let query = try requireValid(grammar.parse(request.uri.query ?? ""))
        guard let (target, tiers) = try target(of: query) else {
            return .json(PurgeDocument(await removeExpired(), of: query))
        }
        // Not sent to edges: a purge of one tier, which leaves the images valid, and a purge that another purge caused.
        let tells = !query.isDryRun && tiers == .all && query.tellsEdges && request.headers[.purgeChain] == nil
        let run = PurgeRun()
        // Goes on after an answer that does not wait for it.
        Task { run.finish(await carryOut(target, tiers, query, tells, run.record)) }
        await run.wait(atMost: query.waits || query.isDryRun ? nil : Self.patience, clock)
        let (report, edges, isDone) = run.state
        guard report.propagation != .failed else { throw .purgeNotShared }
        var document = PurgeDocument(report, of: query)
        document.edges = edges
        document.running = isDone ? nil : true
        var response = Response.json(document)
        if !isDone { response.status = .accepted }
        return response
    }

    private func carryOut(
        _ target: PurgeTarget, _ tiers: TierSet, _ query: PurgeQuery, _ tells: Bool,
        _ progress: @escaping @Sendable (PurgeReport) -> Void
    ) async -> (PurgeReport, [EdgeProgress]?) {
        let report = await purge(target, query.isSoft, query.isDryRun, tiers, progress)
        guard tells, report.propagation != .failed else { return (report, nil) }
        let notice = EdgeNotice(
            target: target, isSoft: query.isSoft, propagation: report.propagation?.duration ?? .zero,
            waits: query.waits)
        return (report, await tellEdges?(notice))
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

/// A purge that continues whether or not its request waits for it.
private final class PurgeRun: Sendable {
    typealias State = (report: PurgeReport, edges: [EdgeProgress]?, isDone: Bool)

    private let current = Mutex<State>((PurgeReport(), nil, false))
    /// Ends once the other servers know of the purge.
    private let (known, endKnown) = AsyncStream<Void>.makeStream()
    /// Ends with the purge.
    private let (ended, endEnded) = AsyncStream<Void>.makeStream()

    var state: State { current.withLock { $0 } }

    @Sendable func record(_ report: PurgeReport) {
        current.withLock { $0.report = report }
        endKnown.finish()
    }

    func finish(_ result: (report: PurgeReport, edges: [EdgeProgress]?)) {
        current.withLock { $0 = (result.report, result.edges, true) }
        endKnown.finish()
        endEnded.finish()
    }

    /// Waits for the purge.
    ///
    /// - Parameter limit: how long at most, but in any case until the other servers know of it; nil = until its end.
    func wait(atMost limit: Duration?, _ clock: any Clock<Duration>) async {
        guard let limit else {
            for await _ in ended {}
            return
        }
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { [ended] in for await _ in ended {} }
            tasks.addTask { [known] in
                try? await clock.sleep(for: limit)
                for await _ in known {}
            }
            _ = await tasks.next()
            tasks.cancelAll()
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
    /// True while the purge continues; nil once it has ended.
    var running: Bool?

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

/// Tells the caches in front of the server of a purge, and returns the progress at each. With ``EdgeNotice/waits``, it
/// returns once all have confirmed or refused the purge.
package typealias EdgeTelling = @Sendable (EdgeNotice) async -> [EdgeProgress]

/// A purge that was carried out here.
package struct EdgeNotice: Sendable {
    package let target: PurgeTarget
    /// Whether images became stale instead of being removed.
    package let isSoft: Bool
    /// The time until the purge holds on all servers that share a store with this server.
    package let propagation: Duration
    /// Whether the client waits until all caches have confirmed the purge.
    package let waits: Bool
}

/// The progress of a purge at a cache in front of the server.
package struct EdgeProgress: Codable, Hashable, Sendable {
    package enum State: String, Codable, Sendable {
        case told, pending
    }

    /// The vendor with the zone, service or host.
    package let edge: String
    package let state: State
    /// Why the last attempt failed; nil if none did.
    package let reason: String?

    package init(edge: String, state: State, reason: String?) {
        self.edge = edge
        self.state = state
        self.reason = reason
    }
}

extension PurgeReport.Propagation {
    /// The time until the purge holds on all servers; nil if it did not reach them.
    var duration: Duration? {
        switch self {
        case .within(let duration): duration
        case .failed: nil
        }
    }
}
