package import DarkroomTransforms

/// The parameters of `/image` without the source, for an image in a file: same meaning, same error sentences.
package struct FileQuery: Sendable {
    package let recipe: Recipe
    package let pages: PageSelection
    package let output: OutputOptions

    /// - Parameter parameters: Names and values, not percent-encoded; nil = given without a value.
    package init(
        _ parameters: [(name: String, value: String?)], limits: QueryLimits = QueryLimits()
    ) throws(InvalidParameter) {
        let query = QueryString(pairs: parameters.map { QueryString.Pair(name: $0.name, value: $0.value) })
        let image = try ImageQueryGrammar(limits: limits).parseWithoutSource(
            query, elsewhere: "Parameter 'url' does not apply to a file.")
        recipe = image.recipe
        pages = image.pages
        output = image.output(acceptingWebP: false)
    }
}
