import Transforms

/// What a query to `/image` asks for. Queries that mean the same are equal, however they were spelled.
struct ImageQuery: Hashable, Sendable {
    /// The source, percent-decoded once and not yet checked.
    var url: String
    var recipe: Recipe
    var pages: PageSelection
    var output: Output
    /// The freshness that the client is given; nil = the server's own.
    var maxAge: Duration?
    /// A name for whoever saves the picture; needs no quoting.
    var fileName: String?

    /// The format, or who decides it.
    enum Output: Hashable, Sendable {
        /// What the client takes, else what the source is.
        case auto(quality: Int?, lossless: Bool, interlaced: Bool)
        case explicit(OutputOptions)
    }

    /// Weighs the parts of a draft against each other, and leaves out what does nothing.
    init(_ draft: QueryDraft, limits: GrammarLimits) throws(InvalidParameter) {
        guard let url = draft.url else {
            throw InvalidParameter(
                "url", "The parameter 'url' is missing; it is the percent-encoded address of the source picture.")
        }
        self.url = url
        recipe = try draft.recipe(limits)
        pages = PageSelection(first: draft.firstPage, count: draft.frames)
        maxAge = draft.maxAge
        fileName = draft.fileName
        switch draft.output {
        case .auto:
            output = .auto(
                quality: draft.lossless ? nil : draft.quality, lossless: draft.lossless, interlaced: draft.interlaced)
        case .format(let format):
            output = .explicit(
                OutputOptions(
                    format: format, quality: draft.quality, lossless: draft.lossless, interlaced: draft.interlaced))
        }
    }
}
