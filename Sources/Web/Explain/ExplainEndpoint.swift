import DarkroomPipeline
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
        let route = AuthorizedRoute("/explain", presets: .taken) { request, _, permit throws(Problem) in
            try await respond(to: request, permit)
        }
        return [route]
    }

    private func respond(to request: Request, _ permit: Permit) async throws(Problem) -> Response {
        guard !request.headers.viaContains(image.configuration.viaPseudonym) else { throw .loop }
        let (query, fetch) = try query(of: permit)
        let wanted = try image.imageRequest(query, of: request, permit)
        do throws(PipelineError) {
            let explanation = try await explain(wanted, fetch)
            let document = ExplainDocument(
                explanation, of: query, permit, accept: request.headers[.accept], image.configuration)
            return .json(document)
        } catch {
            throw Problem(error)
        }
    }

    private func query(of permit: Permit) throws(Problem) -> (image: ImageQuery, fetch: Bool) {
        do throws(InvalidParameter) {
            return try grammar.parse(permit.query)
        } catch {
            throw Problem(error)
        }
    }
}
