import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomQuery
import DarkroomTransforms
import Hummingbird

/// `GET /srcset`: the URLs of one image in several widths. It neither fetches nor processes the image.
struct SrcsetEndpoint: Sendable {
    private let grammar: SrcsetGrammar
    private let urls: ImageURLBuilder
    private let sourceMap: SourceMap

    init(configuration: WebConfiguration) {
        grammar = SrcsetGrammar(limits: configuration.limits)
        urls = ImageURLBuilder(configuration)
        sourceMap = configuration.sourceMap
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

    /// Throws a problem for sources that `/image` would refuse.
    private func check(_ query: SrcsetQuery, _ authorization: Authorization) throws(Problem) {
        guard let image = query.images.first else { return }
        try authorization.requireAllowedSources(of: image.requireValidSources(sourceMap))
    }
}

/// One image in several widths, ready for use in a page.
struct SrcsetDocument: Codable, Hashable {
    struct Candidate: Codable, Hashable {
        /// The width in pixels that browsers may assume.
        var width: Int
        var url: String
    }

    /// The widest candidate, for browsers without support for `srcset`.
    var src: String
    var srcset: String
    var sizes: String
    /// An `img` element with these attributes and an empty `alt`.
    var html: String
    /// In ascending order of width.
    var candidates: [Candidate]

    init(_ query: SrcsetQuery, _ authorization: Authorization, urls: ImageURLBuilder) {
        candidates = query.images.map {
            Candidate(width: $0.recipe.box.width ?? 0, url: urls.url(of: $0, for: authorization))
        }
        src = candidates.last?.url ?? ""
        srcset = candidates.map { "\($0.url) \($0.width)w" }.joined(separator: ", ")
        sizes = query.sizes
        let (src, srcset, sizes) = (src.htmlEscaped, srcset.htmlEscaped, sizes.htmlEscaped)
        html = "<img src=\"\(src)\" srcset=\"\(srcset)\" sizes=\"\(sizes)\" alt=\"\">"
    }
}
