package import DarkroomNetwork

/// Named sets of parameters: `preset=NAME` is replaced by the parameters of the set.
package struct Presets: Hashable, Sendable {
    private var queries: [String: QueryString] = [:]

    package init() {}

    package var names: [String] { queries.keys.sorted() }
    package var isEmpty: Bool { queries.isEmpty }

    /// Why a preset was refused, in one sentence without a period.
    package struct Flaw: Error, CustomStringConvertible {
        package let description: String
    }

    /// Adds a preset after checking it against the grammar of `/image`.
    ///
    /// - Parameters:
    ///   - name: 1 to 32 ASCII letters, digits, hyphens and underscores, not used yet.
    ///   - query: The parameters as they would follow `/image?`, without `url`.
    ///   - sources: The short names and marks of the server; nil = names and marks in the query are not checked.
    package mutating func add(
        _ name: String, _ query: String, limits: QueryLimits, sources: SourceMap? = nil
    ) throws(Flaw) {
        guard SigningKey.isName(name) else {
            throw Flaw(description: "the name of a preset must be 1 to 32 letters A-Z and a-z, digits, - and _")
        }
        guard queries[name] == nil else { throw Flaw(description: "the preset '\(name)' is defined twice") }
        do throws(InvalidParameter) {
            let parameters = try QueryString(parsing: query)
            let image = try ImageQueryGrammar(limits: limits).parseWithoutSource(
                parameters, elsewhere: "A preset must not contain 'url'; requests give it.")
            // Throws where the mark cannot be found.
            if let sources { try InvalidParameter.wrapping(image.markSource(sources)) }
            queries[name] = parameters
        } catch {
            throw Flaw(description: "the preset '\(name)' is invalid: \(error.detail)")
        }
    }

    /// Replaces `preset` in a query by the preset's parameters. Parameters in the query take precedence over the
    /// preset's. The result is the same as a query that was spelled out.
    func expanding(_ query: QueryString) throws(InvalidParameter) -> QueryString {
        var rest = query
        guard let name = rest.removeValue(of: AccessParameters.preset.name) else { return query }
        guard let preset = queries[name] else {
            let hint = NameSuggestions.sentence(for: name, among: names)
            throw InvalidParameter(
                "preset", "There is no preset '\(InvalidParameter.clipped(name))' on this server.\(hint)")
        }
        let given = Set(rest.pairs.map(\.name))
        rest.pairs += preset.pairs.filter { !given.contains($0.name) }
        return rest
    }
}
