import DarkroomPipeline
import DarkroomQuery
import HTTPTypes
import Hummingbird

/// `GET` and `HEAD` of `/cache/entries`: what is cached of one source.
struct EntriesEndpoint: Sendable {
    /// Of a request only the source counts.
    let entries: @Sendable (ImageRequest) async -> SourceEntries

    var routes: [Route] {
        [Route("/cache/entries") { request, _ throws(Problem) in try await respond(to: request) }]
    }

    func respond(to request: Request) async throws(Problem) -> Response {
        try request.requireReadableTarget()
        return .json(EntriesDocument(await entries(try wanted(by: request))))
    }

    private func wanted(by request: Request) throws(Problem) -> ImageRequest {
        let url: String
        do throws(InvalidParameter) {
            url = try EntriesGrammar().parse(request.uri.query ?? "")
        } catch {
            throw Problem(error)
        }
        do throws(InvalidSourceURL) { return try ImageRequest(url, givenAs: "url") } catch { throw Problem(error) }
    }
}
