import Hummingbird
import Pipeline

/// `GET /srcset`: the addresses of one picture in several widths. It asks nobody for the picture.
struct SrcsetEndpoint: Sendable {
    private let grammar: SrcsetGrammar
    private let address: PictureAddress

    init(configuration: WebConfiguration) {
        grammar = SrcsetGrammar(limits: configuration.limits)
        address = PictureAddress(configuration)
    }

    var routes: [Route] { [Route("/srcset") { request, _ throws(Problem) in try respond(to: request) }] }

    func respond(to request: Request) throws(Problem) -> Response {
        try request.requireReadableTarget()
        let query: SrcsetQuery
        do throws(InvalidParameter) {
            query = try grammar.parse(request.uri.query ?? "")
        } catch {
            throw Problem(error)
        }
        try check(query)
        return .json(SrcsetDocument(query, address: address))
    }

    /// Addresses that `/image` would refuse are not given out.
    private func check(_ query: SrcsetQuery) throws(Problem) {
        guard let picture = query.pictures.first else { return }
        _ = try ImageRequest(picture.url, givenAs: "url")
        if let fallback = picture.fallback { _ = try ImageRequest(fallback, givenAs: "default") }
    }
}
