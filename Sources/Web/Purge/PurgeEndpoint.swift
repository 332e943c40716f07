import DarkroomNetwork
import DarkroomPipeline
import DarkroomQuery
import HTTPTypes
import Hummingbird

/// `DELETE /cache`: removes what is cached of the sources that a query names.
struct PurgeEndpoint: Sendable {
    let purge: @Sendable (_ target: PurgeTarget, _ soft: Bool, _ dryRun: Bool, _ tiers: TierSet) async -> PurgeReport
    let removeExpired: @Sendable () async -> PurgeReport
    private let grammar = PurgeGrammar()

    init(
        purge: @escaping @Sendable (PurgeTarget, Bool, Bool, TierSet) async -> PurgeReport,
        removeExpired: @escaping @Sendable () async -> PurgeReport
    ) {
        self.purge = purge
        self.removeExpired = removeExpired
    }

    var routes: [Route] {
        [Route("/cache", [.delete]) { request, _ throws(Problem) in try await respond(to: request) }]
    }

    func respond(to request: Request) async throws(Problem) -> Response {
        try request.requireReadableTarget()
        let query: PurgeQuery
        do throws(InvalidParameter) {
            query = try grammar.parse(request.uri.query ?? "")
        } catch {
            throw Problem(error)
        }
        return PurgeDocument(try await obey(query), of: query).response
    }

    private func source(_ url: String) throws(Problem) -> SourceURL {
        do throws(InvalidSourceURL) { return try ImageRequest(url, givenAs: "url").source } catch {
            throw Problem(error)
        }
    }

    private func obey(_ query: PurgeQuery) async throws(Problem) -> PurgeReport {
        let target: PurgeTarget
        var tiers = TierSet.all
        switch query.scope {
        case .url(let url): target = .source(try source(url))
        case .prefix(let prefix): target = .prefix(prefix)
        case .host(let host): target = .host(host)
        case .tag(let tag): target = .tag(tag)
        case .all(let chosen): (target, tiers) = (.everything, chosen)
        case .expired: return await removeExpired()
        }
        return await purge(target, query.isSoft, query.isDryRun, tiers)
    }
}
