package import DarkroomTransforms

/// A query without its source, for a picture that is at hand: the same parameters with the same meaning and the same
/// sentences when something is wrong.
package struct FileQuery: Sendable {
    package let recipe: Recipe
    package let pages: PageSelection
    package let output: OutputOptions

    /// - Parameter parameters: names and values, not percent-encoded; nil = given without a value.
    package init(
        _ parameters: [(name: String, value: String?)], limits: QueryLimits = QueryLimits()
    ) throws(FileQueryError) {
        let pairs = parameters.map { name, value in value.map { "\(name)=\(Self.encoded($0))" } ?? name }
        do throws(InvalidParameter) {
            let query = try ImageQueryGrammar(limits: limits).parse((["url=file"] + pairs).joined(separator: "&"))
            recipe = query.recipe
            pages = query.pages
            output = query.output.options(takesWebP: false)
        } catch {
            throw FileQueryError(description: error.detail)
        }
    }

    private static func encoded(_ value: String) -> String {
        value.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return "%" + (digits.count == 1 ? "0" + digits : digits)
        }.joined()
    }
}

/// What is wrong with a `FileQuery`, as a sentence.
package struct FileQueryError: Error, CustomStringConvertible {
    package let description: String
}
