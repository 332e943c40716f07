import DarkroomPipeline
import DarkroomQuery
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `/prefetch`: jobs that cache pictures before anybody asks for them.
struct PrefetchEndpoint: Sendable {
    let prefetcher: Prefetcher
    private let grammar: PrefetchGrammar
    private let clock: any Clock<Duration>

    /// The bytes of a body that are read.
    static let maxBodyBytes = 1 << 20

    /// - Parameter clock: runs the heartbeat of event streams.
    init(
        _ prefetcher: Prefetcher, limits: QueryLimits = QueryLimits(), presets: Presets = Presets(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.prefetcher = prefetcher
        self.clock = clock
        grammar = PrefetchGrammar(limits: limits, presets: presets)
    }

    var routes: [Route] {
        [
            Route("/prefetch") { _, _ in jobs() },
            Route("/prefetch", [.post]) { request, _ throws(Problem) in try await start(request) },
            Route("/prefetch/{id}") { _, context throws(Problem) in
                .json(PrefetchDocument(try job(of: context)))
            },
            Route("/prefetch/{id}", [.delete]) { _, context throws(Problem) in try cancel(context) },
            // HEAD would have to wait for the end to tell what GET does.
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
    private func start(_ request: Request) async throws(Problem) -> Response {
        let json = try await request.jsonBody(upTo: Self.maxBodyBytes)
        let acceptingWebP = FormatNegotiation.acceptsWebP(request.headers[.accept])
        let pictures: [PrefetchItem]
        do throws(InvalidBody) {
            pictures = try grammar.images(
                of: PrefetchBody(parsing: Data(json.readableBytesView)), acceptingWebP: acceptingWebP)
        } catch {
            throw Problem(.invalidBody, error.detail, parameter: error.member)
        }
        do throws(PrefetchError) {
            let document = PrefetchDocument(try prefetcher.start(pictures))
            var response = Response.json(document)
            response.status = .accepted
            response.headers[.location] = "/prefetch/\(document.id)"
            return response
        } catch {
            throw Problem(error)
        }
    }

    /// `DELETE /prefetch/{id}`.
    private func cancel(_ context: WebContext) throws(Problem) -> Response {
        let job = try job(of: context)
        prefetcher.cancel(job)
        return .json(PrefetchDocument(job))
    }

    private func job(of context: WebContext) throws(Problem) -> PrefetchJob {
        guard let job = context.parameters.get("id").flatMap(UUID.init).flatMap(prefetcher.job) else {
            throw .noSuchJob
        }
        return job
    }
}

extension Request {
    /// The body of a request that says that it is JSON.
    fileprivate func jsonBody(upTo maxBytes: Int) async throws(Problem) -> ByteBuffer {
        let type = headers[.contentType]?.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard type == "application/json" else { throw .unsupportedBody }
        do {
            return try await body.collect(upTo: maxBytes)
        } catch is NIOTooManyBytesError {
            throw .bodyTooLarge(maxBytes: maxBytes)
        } catch {
            throw Problem(.invalidBody, "The body did not arrive whole.")
        }
    }
}

extension Problem {
    fileprivate init(_ error: PrefetchError) {
        switch error {
        case .tooManyItems:
            self.init(.invalidBody, "A job may have \(Prefetcher.maxItems) pictures, so send several.")
        case .tooManyJobs(let seconds):
            self.init(
                .overloaded,
                "\(Prefetcher.maxJobs) jobs are running, and there may not be more; wait for one, or cancel it.",
                retryAfterSeconds: seconds)
        case .shutDown: self = .goingDown
        }
    }

    fileprivate static let noSuchJob = Problem(
        .noSuchJob, "There is no job of this id, or none any more; GET /prefetch lists those there are.")

    fileprivate static let unsupportedBody = Problem(
        .unsupportedBody, "Send the body as JSON, with 'Content-Type: application/json'.")

    fileprivate static func bodyTooLarge(maxBytes: Int) -> Problem {
        Problem(.bodyTooLarge, "The body is longer than the \(maxBytes) bytes that are accepted; send several.")
    }
}
