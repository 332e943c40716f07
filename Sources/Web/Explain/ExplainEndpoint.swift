import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import HTTPTypes
import Hummingbird

/// `GET /explain`: what `/image` would do for the same query, and why.
struct ExplainEndpoint: Sendable {
    private let image: ImageEndpoint
    private let grammar: ExplainGrammar
    private let explain: @Sendable (ImageRequest, _ fetch: Bool) async throws(PipelineError) -> Explanation

    /// - Parameter image: parses queries and header fields, so that a request means the same as for `/image`.
    init(
        image: ImageEndpoint,
        explain: @escaping @Sendable (ImageRequest, _ fetch: Bool) async throws(PipelineError) -> Explanation
    ) {
        self.image = image
        self.explain = explain
        grammar = ExplainGrammar(limits: image.configuration.limits, dialect: image.configuration.dialect)
    }

    var routes: [AuthorizedRoute] {
        let route = AuthorizedRoute("/explain", presets: .accepted, dialect: image.configuration.dialect) {
            request, context, authorization throws(Problem) in
            try await respond(to: request, context, authorization)
        }
        return [route]
    }

    private func respond(
        to request: Request, _ context: ServerRequestContext, _ authorization: Authorization
    ) async throws(Problem) -> Response {
        guard !request.headers.viaContains(image.configuration.viaPseudonym) else { throw .loop }
        let (query, fetch) = try query(of: authorization, request.headers)
        let imageRequest = try image.imageRequest(query, of: request.headers, authorization, in: context)
        do throws(PipelineError) {
            let explanation = try await explain(imageRequest, fetch)
            var document = ExplainDocument(
                explanation, of: query, authorization, accept: request.headers[.accept], image.configuration)
            document.dialect = (try? grammar.translation(of: authorization.query)).flatMap {
                $0.map(ExplainDocument.Dialect.init)
            }
            return .json(document)
        } catch {
            context.logDetails = AccessLogDetails(imageRequest.source, as: image.configuration.logSources, error: error)
            throw Problem(error)
        }
    }

    private func query(
        of authorization: Authorization, _ fields: HTTPFields
    ) throws(Problem) -> (image: ImageQuery, fetch: Bool) {
        do throws(InvalidParameter) {
            return try grammar.parse(authorization.query, hints: image.clientHints(fields))
        } catch {
            throw Problem(error)
        }
    }
}
