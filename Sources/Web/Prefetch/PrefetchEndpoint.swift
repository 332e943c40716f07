import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomQuery
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `/prefetch`: jobs that warm the caches before images are requested.
struct PrefetchEndpoint: Sendable {
    let prefetcher: Prefetcher
    private let grammar: PrefetchGrammar
    private let clock: any Clock<Duration>
    /// What precedes the endpoint's path in `Location`.
    private let basePath: String

    /// - Parameter clock: times the heartbeat of event streams.
    init(
        _ prefetcher: Prefetcher, limits: QueryLimits = QueryLimits(), presets: Presets = Presets(),
        sourceMap: SourceMap = SourceMap(), negotiation: NegotiationPolicy = NegotiationPolicy(),
        basePath: String = "",
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.prefetcher = prefetcher
        self.basePath = basePath
        self.clock = clock
        grammar = PrefetchGrammar(
            limits: limits, presets: presets, sourceMap: sourceMap, negotiation: negotiation)
    }

    var routes: [Route] {
        [
            Route("/prefetch") { _, _ in jobs() },
            Route("/prefetch", [.post]) { request, context throws(Problem) in try await start(request, context) },
            Route("/prefetch/{id}") { _, context throws(Problem) in
                .json(PrefetchDocument(try job(of: context)))
            },
            Route("/prefetch/{id}", [.delete]) { _, context throws(Problem) in try cancel(context) },
            // No HEAD: its fields would be the fields of a stream that ends with the job.
            Route("/prefetch/{id}/events", [.get]) { _, context throws(Problem) in
                PrefetchEvents(job: try job(of: context), clock: clock).response
            },
        ]
    }

    /// `GET /prefetch`.
    private func jobs() -> Response {
        .json(PrefetchList(jobs: prefetcher.jobs.map { PrefetchDocument($0) }))
    }

    /// `POST /prefetch`.
    private func start(_ request: Request, _ context: ServerRequestContext) async throws(Problem) -> Response {
        context.continueRequest()
        let json = try await request.jsonBody(upTo: PrefetchBody.maxBytes)
        let items: [PrefetchItem]
        do throws(InvalidBody) {
            items = try grammar.images(
                of: PrefetchBody(parsing: Data(json.readableBytesView)), accept: request.headers[.accept],
                connection: ConnectionHints(request.headers))
        } catch {
            throw Problem(.invalidBody, error.detail, parameter: error.member)
        }
        do throws(PrefetchError) {
            let document = PrefetchDocument(try prefetcher.start(items))
            var response = Response.json(document)
            response.status = .accepted
            response.headers[.location] = "\(basePath)/prefetch/\(document.id)"
            return response
        } catch {
            throw Problem(error)
        }
    }

    /// `DELETE /prefetch/{id}`.
    private func cancel(_ context: ServerRequestContext) throws(Problem) -> Response {
        let job = try job(of: context)
        prefetcher.cancel(job)
        return .json(PrefetchDocument(job))
    }

    private func job(of context: ServerRequestContext) throws(Problem) -> PrefetchJob {
        guard let job = context.parameters.get("id").flatMap(UUID.init(uuidString:)).flatMap(prefetcher.job) else {
            throw .noSuchJob
        }
        return job
    }
}

extension Problem {
    fileprivate init(_ error: PrefetchError) {
        switch error {
        case .tooManyItems:
            self.init(.invalidBody, "A job may have at most \(Prefetcher.maxItems) images; post several jobs.")
        case .tooManyJobs(let seconds):
            self.init(
                .overloaded,
                "The maximum of \(Prefetcher.maxJobs) running jobs is reached; wait for one to finish, or cancel one.",
                retryAfterSeconds: seconds)
        case .shutDown: self = .shuttingDown
        }
    }
}
