import DarkroomPipeline
import DarkroomQuery
import Hummingbird

/// `GET /srcset`: the addresses of one picture in several widths. It asks nobody for the picture.
struct SrcsetEndpoint: Sendable {
    private let grammar: SrcsetGrammar
    private let urls: ImageURLBuilder

    init(configuration: WebConfiguration) {
        grammar = SrcsetGrammar(limits: configuration.limits)
        urls = ImageURLBuilder(configuration)
    }

    var routes: [AuthorizedRoute] {
        [
            AuthorizedRoute("/srcset", presets: .unsupported) { _, _, authorization throws(Problem) in
                try response(authorization)
            }
        ]
    }

    private func response(_ authorization: Authorization) throws(Problem) -> Response {
        let query: SrcsetQuery
        do throws(InvalidParameter) {
            query = try grammar.parse(authorization.query)
        } catch {
            throw Problem(error)
        }
        try check(query, authorization)
        return .json(SrcsetDocument(query, authorization, urls: urls))
    }

    /// Refuses a source that `/image` would refuse: URLs that cannot work are not handed out.
    private func check(_ query: SrcsetQuery, _ authorization: Authorization) throws(Problem) {
        guard let image = query.images.first else { return }
        try authorization.requireSources(in: image)
    }
}
