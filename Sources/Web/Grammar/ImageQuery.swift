import DarkroomHTTPCaching
import DarkroomPipeline
import DarkroomTransforms

/// What a query to `/image` asks for. Queries that mean the same are equal, however they were spelled.
struct ImageQuery: Hashable, Sendable {
    /// The source, percent-decoded once and not yet checked.
    var url: String
    /// Another source for when that one fails, in the same state.
    var fallback: String?
    var recipe: Recipe
    var pages: PageSelection
    var output: Output
    /// What is told beside the picture: some of `color`, `blurHash`, `thumbHash` and `lqip`.
    var placeholders: ImageDetails
    /// Whether the answer tells besides where the document and its source are cached.
    var tellsCaching: Bool
    /// What the caches may answer, and whether the origin has to be asked.
    var cache: CacheMode
    /// Where results are kept.
    var store: TierSelection
    /// Whether the answer waits until its entries are on disk.
    var waitsForDisk: Bool
    /// Nil = what the `Priority` field says.
    var priority: Priority?
    /// How long the client may use the answer from now on; nil = what the origin and the server say.
    var maxAge: Duration?
    /// A name for whoever saves the picture; needs no quoting.
    var fileName: String?

    /// The format, or who decides it.
    enum Output: Hashable, Sendable {
        /// What the client takes, else what the source is.
        case auto(quality: Int?, lossless: Bool, interlaced: Bool)
        case explicit(OutputOptions)
    }

    /// Whether it asks where the picture was taken.
    var tellsPosition: Bool {
        if case .explicit(let options) = output { return options.details.contains(.position) }
        return false
    }

    /// Weighs the parts of a draft against each other, and leaves out what does nothing.
    init(_ draft: QueryDraft, limits: QueryLimits) throws(InvalidParameter) {
        guard let url = draft.url else {
            throw InvalidParameter(
                "url", "The parameter 'url' is missing; it is the percent-encoded address of the source picture.")
        }
        self.url = url
        fallback = draft.fallback
        recipe = try draft.recipe(limits)
        pages = PageSelection(first: draft.firstPage, count: draft.frames)
        cache = draft.cache
        store = draft.store
        waitsForDisk = draft.waitsForDisk
        priority = draft.priority
        maxAge = draft.maxAge
        fileName = draft.fileName
        placeholders = draft.placeholders
        tellsCaching = draft.tellsCaching
        if case .format(let format) = draft.output, format.isText, !placeholders.isEmpty {
            throw InvalidParameter(
                "placeholder", "'placeholder' tells of a picture, and output=\(format.rawValue) gives none.")
        }
        guard draft.details == nil || draft.output == .format(.json) else {
            throw InvalidParameter("fields", "'fields' means something only together with output=json.")
        }
        switch draft.output {
        case .auto:
            output = .auto(
                quality: draft.lossless ? nil : draft.quality, lossless: draft.lossless, interlaced: draft.interlaced)
        case .format(let format):
            output = .explicit(
                OutputOptions(
                    format: format, quality: draft.quality, lossless: draft.lossless, interlaced: draft.interlaced,
                    details: (draft.details ?? []).union(draft.tellsPosition ? .position : [])))
        }
    }
}
