import Foundation
import HTTPTypes
import Hummingbird
import Pipeline

/// `GET` and `HEAD /image`: one request's story, from the query to the answer.
struct ImageEndpoint: Sendable {
    let configuration: WebConfiguration
    let grammar: QueryGrammar
    /// Makes or finds the picture.
    let picture: @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse
    let now: @Sendable () -> Date

    /// Longer targets are refused before they are read: a source URL of the greatest length fits in, all of it encoded.
    static let maxTargetBytes = 32 * 1024

    init(
        configuration: WebConfiguration,
        picture: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.configuration = configuration
        self.picture = picture
        self.now = now
        grammar = QueryGrammar(limits: configuration.limits)
    }

    func respond(to request: Request) async throws(Problem) -> Response {
        guard !request.headers.passedThrough(configuration.viaPseudonym) else { throw .loop }
        let query = try query(of: request)
        let output = query.output.options(takesWebP: Negotiation.takesWebP(accept: request.headers[.accept]))
        do throws(PipelineError) {
            let wanted = try ImageRequest(
                url: query.url, recipe: query.recipe, pages: query.pages, output: output)
            let answer = ImageAnswer(
                picture: try await picture(wanted), query: query, variantMaxAge: configuration.variantMaxAge, now: now()
            )
            return answer.response(to: request)
        } catch {
            var problem = Problem(error)
            problem.variesByAccept = query.output.isNegotiated
            throw problem
        }
    }

    private func query(of request: Request) throws(Problem) -> ImageQuery {
        guard request.uri.string.utf8.count <= Self.maxTargetBytes else {
            throw Problem(
                .targetTooLong, "Path and query are longer than the \(Self.maxTargetBytes) bytes that are accepted.")
        }
        do throws(InvalidParameter) {
            return try grammar.parse(request.uri.query ?? "")
        } catch {
            throw Problem(error)
        }
    }
}
