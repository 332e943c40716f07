import DarkroomPipeline
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
        try request.requireParsableTarget()
        return .json(EntriesDocument(await entries(try wanted(by: request))))
    }

    /// What a query may hold.
    struct Draft: Sendable {
        var url: String?
    }

    static let grammar = ParameterTable<Draft>([Parameter("url", .url) { $0.url = $1 }])

    private func wanted(by request: Request) throws(Problem) -> ImageRequest {
        var draft = Draft()
        do throws(InvalidParameter) {
            try Self.grammar.read(request.uri.query ?? "", into: &draft)
        } catch {
            throw Problem(error)
        }
        guard let url = draft.url else {
            throw Problem(
                .invalidParameter,
                "The parameter 'url' is missing; it is the percent-encoded address of the source picture.",
                parameter: "url")
        }
        return try ImageRequest(url, givenAs: "url")
    }
}
