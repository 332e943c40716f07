import DarkroomHTTPServer
import DarkroomQuery
import DarkroomRequests
import DarkroomTransforms

/// One image in several widths, ready for use in a page.
struct SrcsetDocument: Codable, Hashable {
    struct Candidate: Codable, Hashable {
        /// The width of the image in pixels.
        var width: Int
        var url: String
    }

    /// The widest candidate, for browsers without support for `srcset`.
    var src: String
    var srcset: String
    var sizes: String
    /// The size of `src` in pixels; nil if it depends on the pixels.
    var width: Int?
    var height: Int?
    /// An `img` element with these attributes and an empty `alt`, which is loaded when it comes near the viewport.
    var html: String
    /// The same with a `source` for each format; nil if the query names the output format.
    var picture: String?
    /// In ascending order of width.
    var candidates: [Candidate]

    /// - Parameters:
    ///   - images: in ascending order of width, at least one.
    ///   - pictures: the images of `picture` by their formats, the preferred one first; empty if the query names the
    ///     format.
    init(
        _ images: [SrcsetImage], sizes: String, pictures: [(format: OutputFormat, images: [SrcsetImage])],
        url: (ImageQuery) -> String
    ) {
        func listed(_ images: [SrcsetImage]) -> [Candidate] {
            images.map { Candidate(width: $0.planned.size.width, url: url($0.query)) }
        }
        candidates = listed(images)
        src = candidates.last?.url ?? ""
        srcset = candidates.srcset
        self.sizes = sizes
        let known = images.last.flatMap { $0.planned.isExact ? $0.planned.size : nil }
        (width, height) = (known?.width, known?.height)
        let size = known.map { " width=\"\($0.width)\" height=\"\($0.height)\"" } ?? ""
        let element =
            "<img src=\"\(src.htmlEscaped)\" srcset=\"\(srcset.htmlEscaped)\" sizes=\"\(sizes.htmlEscaped)\"\(size) "
            + "alt=\"\" loading=\"lazy\" decoding=\"async\">"
        html = element
        guard !pictures.isEmpty else { return }
        let sources = pictures.map { format, images in
            "<source type=\"\(format.mediaType)\" srcset=\"\(listed(images).srcset.htmlEscaped)\" "
                + "sizes=\"\(sizes.htmlEscaped)\">"
        }
        picture = "<picture>\(sources.joined())\(element)</picture>"
    }
}

/// A candidate before it has a URL.
struct SrcsetImage {
    var query: ImageQuery
    var planned: PlannedSize
}

extension [SrcsetDocument.Candidate] {
    /// The value of the attribute.
    fileprivate var srcset: String { map { "\($0.url) \($0.width)w" }.joined(separator: ", ") }
}

extension ImageQuery {
    /// The same image in a format that is not negotiated.
    func converted(to format: OutputFormat) -> ImageQuery {
        var converted = self
        converted.output = output.converted(to: format)
        converted.formats = nil
        return converted
    }
}
