import DarkroomQuery
import DarkroomTransforms

/// One picture in several widths, ready to be put into a page.
struct SrcsetDocument: Codable, Hashable {
    struct Candidate: Codable, Hashable {
        /// Pixels that a browser may count on.
        var width: Int
        var url: String
    }

    /// For browsers that know no `srcset`: the widest.
    var src: String
    var srcset: String
    var sizes: String
    /// An `img` element of all that, to be given its `alt`.
    var html: String
    /// The narrowest first.
    var candidates: [Candidate]

    init(_ query: SrcsetQuery, _ authorization: Authorization, urls: ImageURLBuilder) {
        candidates = query.images.map {
            Candidate(width: $0.recipe.box.width ?? 0, url: urls.url(of: $0, for: authorization))
        }
        src = candidates.last?.url ?? ""
        srcset = candidates.map { "\($0.url) \($0.width)w" }.joined(separator: ", ")
        sizes = query.sizes
        html = "<img src=\"\(src.escaped)\" srcset=\"\(srcset.escaped)\" sizes=\"\(sizes.escaped)\" alt=\"\">"
    }
}

extension String {
    /// Without anything that means something in HTML, inside and outside of quotes.
    var escaped: String {
        // By scalars: a mark upon a quote makes another character of it, and HTML sees the quote.
        unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
