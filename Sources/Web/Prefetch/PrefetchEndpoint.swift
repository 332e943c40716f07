import DarkroomHTTPServer
import DarkroomLoading
import DarkroomQuery
import DarkroomRequests
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `/prefetch`: jobs that warm the caches before images are requested.
struct PrefetchEndpoint: Sendable {
    let prefetcher: Prefetcher
    var grammar = PrefetchGrammar()
    /// What precedes the endpoint's path in `Location`.
    var basePath = ""

    var routes: [Route] {
        [
            Route("/prefetch") { _, _ in
                .json(PrefetchList(jobs: prefetcher.jobs.map { PrefetchDocument($0) }))
            },
            Route("/prefetch", [.post], respond: start),
            Route("/prefetch/{id}") { _, context throws(Problem) in
                .json(PrefetchDocument(try job(of: context)))
            },
            Route("/prefetch/{id}", [.delete]) { _, context throws(Problem) in try cancel(context) },
            // No HEAD: its fields would be the fields of a stream that ends with the job.
            Route("/prefetch/{id}/events", [.get]) { _, context throws(Problem) in
                PrefetchEvents(job: try job(of: context)).response
            },
        ]
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
        guard let job = context.parameter("id").flatMap(UUID.init(uuidString:)).flatMap(prefetcher.job) else {
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
