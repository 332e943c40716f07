import DarkroomPipeline
import DarkroomQuery
import HTTPTypes
import Hummingbird

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

    var routes: [AuthorizedRoute] {
        let route = AuthorizedRoute("/explain", presets: .accepted) { request, _, authorization throws(Problem) in
            try await respond(to: request, authorization)
        }
        return [route]
    }

    private func respond(to request: Request, _ authorization: Authorization) async throws(Problem) -> Response {
        guard !request.headers.passedThrough(image.configuration.viaPseudonym) else { throw .loop }
        let (query, fetch) = try query(of: authorization)
        let wanted = try image.imageRequest(query, of: request, authorization)
        do throws(PipelineError) {
            let explanation = try await explain(wanted, fetch)
            let document = ExplainDocument(
                explanation, of: query, authorization, accept: request.headers[.accept], image.configuration)
            return .json(document)
        } catch {
            throw Problem(error)
        }
    }

    private func query(of authorization: Authorization) throws(Problem) -> (image: ImageQuery, fetch: Bool) {
        do throws(InvalidParameter) {
            return try grammar.parse(authorization.query)
        } catch {
            throw Problem(error)
        }
    }
}
