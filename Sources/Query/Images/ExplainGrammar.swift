/// The grammar of `/explain` queries: that of `/image`, and `fetch`.
package struct ExplainGrammar: Sendable {
    private let limits: QueryLimits
    let table: ParameterTable<Draft>

    struct Draft: Sendable {
        var image: ImageQueryDraft
        var fetch = false
    }

    package init(limits: QueryLimits) {
        self.limits = limits
        let fetch = Parameter<Draft>(
            "fetch", .boolean, \.fetch,
            .of(.caching, .fetch, "Fetches the source where it is not cached, so that the plan can be explained."))
        table = ParameterTable(
            ImageParameters.rows(limits).map { $0.within(\Draft.image) } + [fetch],
            initial: Draft(image: ImageQueryDraft(limits)))
    }

    /// Reads a query as received after the `?`.
    package func parse(_ query: String) throws(InvalidParameter) -> (image: ImageQuery, fetch: Bool) {
        try parse(QueryString(parsing: query))
    }

    /// Reads a query.
    package func parse(_ query: QueryString) throws(InvalidParameter) -> (image: ImageQuery, fetch: Bool) {
        let draft = try table.read(query)
        return (try draft.image.finished(limits), draft.fetch)
    }
}
