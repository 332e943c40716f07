package import DarkroomTransforms

/// What queries may ask for on this server.
package struct QueryLimits: Hashable, Sendable {
    /// Pixels of a result's longer side, which bounds `w` and `h` before and after `dpr`.
    package var maxOutputSide: Int
    /// Frames or pages that `n` may ask for.
    package var maxFrames: Int
    /// What leaving out `resample` means.
    package var defaultResampling: Resampling

    package init(maxOutputSide: Int = 8192, maxFrames: Int = 256, defaultResampling: Resampling = .fast) {
        self.maxOutputSide = maxOutputSide
        self.maxFrames = maxFrames
        self.defaultResampling = defaultResampling
    }
}

/// The language of `/image` and `/info` queries, as a table of parameters.
///
/// Names are those of weserv/images; the semantics are exact: what is unknown, given twice, out of range or at odds
/// with something else is refused, never guessed.
struct ImageQueryGrammar: Sendable {
    let limits: QueryLimits
    let table: ParameterTable<QueryDraft>
    private var draft = QueryDraft()

    init(limits: QueryLimits = QueryLimits()) {
        self.limits = limits
        table = ParameterTable(Self.parameters(limits))
    }

    private init(limits: QueryLimits, _ parameters: [Parameter<QueryDraft>]) {
        self.limits = limits
        table = ParameterTable(parameters)
    }

    /// The language of `/info`: what means something for `output=json` of an unchanged picture, and what only `/info` tells.
    static func info(limits: QueryLimits = QueryLimits()) -> ImageQueryGrammar {
        let shared = ["url", "page", "cache", "store", "wait", "priority", "maxage", "filename"]
        let parameters = parameters(limits).filter { shared.contains($0.name) }
        var grammar = ImageQueryGrammar(limits: limits, Array(parameters.prefix(1)) + information + parameters.dropFirst())
        grammar.draft.output = .format(.json)
        return grammar
    }

    /// Reads a query, given as received after the `?`.
    func parse(_ query: String) throws(InvalidParameter) -> ImageQuery {
        try parse(QueryString(parsing: query))
    }

    /// Reads a query that is in its parts already.
    func parse(_ query: QueryString) throws(InvalidParameter) -> ImageQuery {
        var draft = draft
        try table.read(query, into: &draft)
        return try ImageQuery(draft, limits: limits)
    }
}
