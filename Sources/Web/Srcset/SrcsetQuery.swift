import DarkroomTransforms

/// What a query to `/srcset` asks for: one picture in several widths.
struct SrcsetQuery: Hashable, Sendable {
    /// The narrowest first; at least one.
    var pictures: [ImageQuery]
    /// Goes out as it came.
    var sizes: String

    init(_ draft: SrcsetDraft, limits: QueryLimits) throws(InvalidParameter) {
        if case .format(let format) = draft.picture.output, format.isText {
            throw InvalidParameter("output", "A srcset is one of pictures, and output=\(format.rawValue) gives none.")
        }
        var pictures: [ImageQuery] = []
        for width in draft.widths ?? Self.ladder(limits, draft.picture.pixelRatio) {
            var picture = draft.picture
            picture.width = width
            pictures.append(try ImageQuery(picture, limits: limits))
        }
        self.pictures = pictures
        sizes = draft.sizes
    }

    /// Steps from a small phone to a large screen, as far as the server goes.
    private static func ladder(_ limits: QueryLimits, _ ratio: Hundredths) -> [Int] {
        let steps = [320, 480, 640, 960, 1280, 1600, 1920, 2560].filter { ratio.times($0) <= limits.maxOutputSide }
        return steps.isEmpty ? [max(1, limits.maxOutputSide * 100 / ratio.count)] : steps
    }
}

/// The values of a query as given, before they are weighed against each other.
struct SrcsetDraft: Sendable {
    var picture = QueryDraft()
    /// In rising order, each once.
    var widths: [Int]?
    var sizes = Self.standardSizes

    static let standardSizes = "100vw"
}
