/// The one spelling of an ``ImageQuery``: defaults left out, `dpr` multiplied into the lengths, each value in one form,
/// in the order of the documentation.
///
/// A grammar with the same limits reads it as the same query. Two queries are equal if and only if their canonical
/// texts are equal.
package struct CanonicalQuery: Hashable, Sendable {
    package struct Parameter: Hashable, Encodable, Sendable {
        package let name: String
        /// Not percent-encoded; empty for a name without `=`.
        package let value: String
    }

    /// The parameters, percent-decoded.
    package let query: QueryString

    package init(_ query: ImageQuery, limits: QueryLimits) {
        self.init(query, ImageQueryGrammar(limits: limits))
    }

    /// - Parameter grammar: The grammar of `/image`.
    init(_ query: ImageQuery, _ grammar: ImageQueryGrammar) {
        self.query = grammar.table.write(ImageQueryDraft(writing: query, grammar.limits))
    }

    package var parameters: [Parameter] { query.pairs.map { Parameter(name: $0.name, value: $0.value ?? "") } }

    /// The query as written after a `?`, percent-encoded.
    package var text: String { query.text }
}
