import DarkroomDialects
import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
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
        var route = AuthorizedRoute(
            "/explain", presets: .accepted, dialect: image.configuration.dialect, answer: answer)
        route.translation = translation
        return [route]
    }

    /// The meaning of a path of another service in `path`; nil if there is none.
    private func translation(of head: RequestHead) throws(Problem) -> PathTranslation? {
        guard head.query.contains("path=") else { return nil }
        let query = try requireValid(QueryString(parsing: head.query))
        guard let path = query.pairs.first(where: { $0.name == "path" }) else { return nil }
        guard let dialect = image.configuration.pathDialect else {
            throw Problem(
                InvalidParameter(
                    "path",
                    "Parameter 'path' requires a server that understands the paths of another service ('compat')."
                ))
        }
        if let other = query.pairs.first(where: { !["path", "fetch"].contains($0.name) }) {
            throw Problem(
                InvalidParameter(
                    other.name, "Parameter '\(InvalidParameter.clipped(other.name))' cannot be combined with 'path'."))
        }
        var translation = try requireAuthorized(
            dialect.translate((path.value ?? "")[...], limits: image.configuration.limits))
        translation.query.pairs += query.pairs.filter { $0.name == "fetch" }
        return translation
    }

    private func answer(
        _ head: RequestHead, _ authorization: Authorization, _ known: KnownTarget?
    ) throws(Problem) -> Answer {
        let (query, fetch) = try requireValid(
            grammar.parse(authorization.query, hints: image.clientHints(head)))
        let imageRequest = try image.imageRequest(query, of: head, authorization)
        if fetch { try image.gate.requireAdmission(ofPartsOf: imageRequest, authorization) }
        return .later { _, context async throws(Problem) in
            context.logDetails = image.details(of: imageRequest)
            do throws(PipelineError) {
                let explanation = try await explain(imageRequest, fetch)
                var document = ExplainDocument(
                    explanation, of: query, authorization, accept: head.accept, image.configuration)
                document.dialect = dialect(of: head, authorization)
                return .json(document)
            } catch {
                context.logDetails = image.details(of: imageRequest, error: error)
                throw Problem(error, of: imageRequest.source, for: head, image.configuration)
            }
        }
    }

    private func dialect(of head: RequestHead, _ authorization: Authorization) -> ExplainDocument.Dialect? {
        if let path = try? translation(of: head), let name = image.configuration.pathDialect?.name {
            return ExplainDocument.Dialect(name: name.rawValue, ignored: path.ignored)
        }
        guard let translation = try? grammar.translation(of: authorization.query) else { return nil }
        return ExplainDocument.Dialect(name: translation.dialect.rawValue, ignored: translation.ignored)
    }
}
