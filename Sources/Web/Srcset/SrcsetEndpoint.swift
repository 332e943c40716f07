import DarkroomPipeline
import Hummingbird

/// `GET /srcset`: the addresses of one picture in several widths. It asks nobody for the picture.
struct SrcsetEndpoint: Sendable {
    private let grammar: SrcsetGrammar
    private let address: ImageURLBuilder

    init(configuration: WebConfiguration) {
        grammar = SrcsetGrammar(limits: configuration.limits)
        address = ImageURLBuilder(configuration)
    }

    var routes: [AuthorizedRoute] {
        [AuthorizedRoute("/srcset", presets: .missing) { _, _, permit throws(Problem) in try response(permit) }]
    }

    private func response(_ permit: Permit) throws(Problem) -> Response {
        let query: SrcsetQuery
        do throws(InvalidParameter) {
            query = try grammar.parse(permit.query)
        } catch {
            throw Problem(error)
        }
        try check(query, permit)
        return .json(SrcsetDocument(query, permit, address: address))
    }

    /// Addresses that `/image` would refuse are not given out.
    private func check(_ query: SrcsetQuery, _ permit: Permit) throws(Problem) {
        guard let picture = query.pictures.first else { return }
        try permit.requireSources(of: ImageRequest(sourcesOf: picture))
    }
}
