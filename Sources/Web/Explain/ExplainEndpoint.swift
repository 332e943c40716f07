import HTTPTypes
import Hummingbird
import Pipeline

/// `GET` and `HEAD` of `/explain`: what `/image` would do about the same query, and why.
struct ExplainEndpoint: Sendable {
    private let image: ImageEndpoint
    private let grammar: ExplainGrammar
    private let explain: @Sendable (ImageRequest, _ fetch: Bool) async throws(PipelineError) -> Explanation

    /// - Parameter image: reads queries and fields, so that a request means the same here as there.
    init(
        image: ImageEndpoint,
        explain: @escaping @Sendable (ImageRequest, _ fetch: Bool) async throws(PipelineError) -> Explanation
    ) {
        self.image = image
        self.explain = explain
        grammar = ExplainGrammar(limits: image.configuration.limits)
    }

    var routes: [Route] {
        [
            Route("/explain") { request, context throws(Problem) in
                try await respond(to: request, for: context.clientAddress ?? "")
            }
        ]
    }

    func respond(to request: Request, for client: String) async throws(Problem) -> Response {
        guard !request.headers.passedThrough(image.configuration.viaPseudonym) else { throw .loop }
        let (query, fetch) = try query(of: request)
        var wanted = try image.imageRequest(query, of: request)
        wanted.client = client
        do throws(PipelineError) {
            let explanation = try await explain(wanted, fetch)
            let document = ExplainDocument(
                explanation, of: query, accept: request.headers[.accept], image.configuration)
            return .json(document)
        } catch {
            throw Problem(error)
        }
    }

    private func query(of request: Request) throws(Problem) -> (image: ImageQuery, fetch: Bool) {
        try request.requireReadableTarget()
        do throws(InvalidParameter) {
            return try grammar.parse(request.uri.query ?? "")
        } catch {
            throw Problem(error)
        }
    }
}
