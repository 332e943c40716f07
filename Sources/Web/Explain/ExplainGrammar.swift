/// The language of `/explain` queries: that of `/image`, and `fetch`.
struct ExplainGrammar: Sendable {
    let table: ParameterTable<ExplainDraft>
    private let limits: QueryLimits

    init(limits: QueryLimits) {
        self.limits = limits
        table = ParameterTable(
            ImageQueryGrammar.parameters(limits).map { $0.within(\ExplainDraft.image) }
                + [Parameter("fetch", .boolean, standard: "false") { $0.fetch = $1 }])
    }

    /// Reads a query, given as received after the `?`.
    func parse(_ query: String) throws(InvalidParameter) -> (image: ImageQuery, fetch: Bool) {
        try parse(QueryString(parsing: query))
    }

    /// Reads a query that is in its parts already.
    func parse(_ query: QueryString) throws(InvalidParameter) -> (image: ImageQuery, fetch: Bool) {
        var draft = ExplainDraft()
        try table.read(query, into: &draft)
        return (try ImageQuery(draft.image, limits: limits), draft.fetch)
    }
}

/// The values of a query as given.
struct ExplainDraft: Sendable {
    var image = QueryDraft()
    var fetch = false
}
