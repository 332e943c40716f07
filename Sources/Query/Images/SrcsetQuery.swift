import DarkroomRequests

/// A query to `/srcset`: one image in several widths.
package struct SrcsetQuery: Sendable {
    /// The image in its narrowest width.
    package let first: ImageQuery
    /// At least one, narrowest first.
    package let images: [ImageQuery]
    /// The `sizes` attribute, as received.
    package let sizes: String
    private let draft: ImageQueryDraft
    private let limits: QueryLimits

    fileprivate init(_ draft: SrcsetDraft, limits: QueryLimits) throws(InvalidParameter) {
        if case .format(let format) = draft.image.format, format.isText {
            throw InvalidParameter(
                "output", "A srcset consists of images, and output=\(format.rawValue) is not one.")
        }
        var images: [ImageQuery] = []
        for width in draft.widths ?? Self.defaultWidths(limits, draft.image) {
            images.append(try Self.image(draft.image, width: width, limits))
        }
        first = images[0]
        self.images = images
        sizes = draft.sizes
        self.draft = draft.image
        self.limits = limits
    }

    /// The query of `/info` that describes the same source.
    package var sourceQuery: ImageQuery {
        ImageQuery(
            url: first.url, fallback: first.fallback, pages: first.pages, output: OutputOptions(format: .json),
            priority: first.priority)
    }

    /// The image in the least width in CSS pixels that makes at least this many pixels; nil if the other parameters do
    /// not permit it.
    package func image(covering pixels: Int) -> ImageQuery? {
        try? Self.image(draft, width: (pixels * 100 + draft.pixelRatio.count - 1) / draft.pixelRatio.count, limits)
    }

    private static func image(
        _ draft: ImageQueryDraft, width: Int, _ limits: QueryLimits
    ) throws(InvalidParameter) -> ImageQuery {
        var image = draft
        image.width = .pixels(width)
        return try image.finished(limits)
    }

    /// Widths from a small phone to a large screen, from the least width up to the server's limit.
    private static func defaultWidths(_ limits: QueryLimits, _ draft: ImageQueryDraft) -> [Int] {
        let (ratio, least) = (draft.pixelRatio, draft.minWidth ?? 1)
        let ladder = [320, 480, 640, 960, 1280, 1600, 1920, 2560]
        let widths = (ladder + (least > 2560 ? [least] : [])).filter { width in
            let pixels = ratio.times(width)
            return width >= least
                && max(pixels, draft.aspectRatio?.height(forWidth: pixels) ?? 1) <= limits.maxOutputSide
        }
        return widths.isEmpty ? [max(1, limits.maxOutputSide * 100 / ratio.count)] : widths
    }
}

/// A srcset query while its parameters are read.
struct SrcsetDraft: Sendable {
    var image: ImageQueryDraft
    /// Ascending and unique; nil = the default widths.
    var widths: [Int]?
    var sizes = "100vw"
}

/// The grammar of `/srcset` queries: the grammar of `/image` without `w`, `fields`, `encoding` and `compat`, with
/// `widths` and `sizes`.
package struct SrcsetGrammar: Sendable {
    private let limits: QueryLimits
    let table: ParameterTable<SrcsetDraft>

    package init(limits: QueryLimits = QueryLimits()) {
        self.limits = limits
        let excluded: Set = ["w", "fields", "encoding", Dialect.parameter]
        let image = ImageParameters.rows(limits).filter { !excluded.contains($0.name) }
            .map { Parameter($0, in: \SrcsetDraft.image) }
        table = ParameterTable(
            image.prefix(1) + Self.rows(limits) + image.dropFirst(),
            families: PartParameters.families(limits).map { ParameterFamily($0, in: \SrcsetDraft.image) },
            initial: SrcsetDraft(image: ImageQueryDraft(limits)))
    }

    /// Reads a query.
    package func parse(_ query: QueryString) throws(InvalidParameter) -> SrcsetQuery {
        try SrcsetQuery(table.read(query), limits: limits)
    }

    private static func rows(_ limits: QueryLimits) -> [Parameter<SrcsetDraft>] {
        [
            Parameter(
                "widths", .widths(1...limits.maxOutputSide), \.widths, .size, .respond,
                "Widths of the candidates in CSS pixels; by default 320 to 2560."),
            Parameter("sizes", .sizes, \.sizes, .delivery, .respond, "The `sizes` attribute of the `img` element."),
        ]
    }
}

extension ValueFormat where Value == [Int] {
    /// Up to 32 comma-separated widths in any order; a width may be repeated.
    fileprivate static func widths(_ range: ClosedRange<Int>) -> ValueFormat {
        ValueFormat(
            pattern: "^[0-9]{1,5}(,[0-9]{1,5}){0,31}$",
            expected: "1 to 32 integers from \(range.lowerBound) to \(range.upperBound), separated by commas",
            write: { $0.map(String.init).joined(separator: ",") },
            read: { text in
                let members = text.split(separator: ",", maxSplits: 32, omittingEmptySubsequences: false)
                let widths = members.compactMap { member in
                    member.utf8.count <= 5 ? Digits.integer(String(member), in: range) : nil
                }
                return members.count <= 32 && widths.count == members.count ? Set(widths).sorted() : nil
            })
    }
}

extension ValueFormat where Value == String {
    /// The `sizes` attribute of an `img` element, which is passed on as it is.
    fileprivate static var sizes: ValueFormat {
        text(pattern: "^[ -~]{1,500}$", expected: "1 to 500 printable ASCII characters") { text in
            (1...500).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
        }
    }
}
