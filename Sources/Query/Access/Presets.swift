package import DarkroomNetwork

/// Named sets of parameters: `preset=NAME` is replaced by the parameters of the set.
package struct Presets: Hashable, Sendable {
    private var queries: [String: QueryString] = [:]
    /// The parameters that each preset leaves to its requests: the images and texts whose names it has, but which it
    /// does not give.
    private var holes: [String: [String]] = [:]

    package init() {}

    package var names: [String] { queries.keys.sorted() }

    /// Why a preset was refused, in one sentence without a period.
    package struct Flaw: Error, CustomStringConvertible {
        package let description: String
    }

    /// Adds a preset after checking it against the grammar of `/image`.
    ///
    /// - Parameters:
    ///   - name: 1 to 32 ASCII letters, digits, hyphens and underscores, not used yet.
    ///   - query: The parameters as they would follow `/image?`, without `url`. It may place named images and texts
    ///     that requests give.
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
            let holes = Self.holes(of: parameters)
            var complete = parameters
            for hole in holes { complete.append(hole, Self.example) }
            let image = try ImageQueryGrammar(limits: limits).parseWithoutSource(
                complete, elsewhere: "A preset must not contain 'url'; requests give it.")
            // Throws where a mark cannot be found.
            if let sources { try InvalidParameter.wrapping(image.partImages(sources)) }
            (queries[name], self.holes[name]) = (parameters, holes)
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
        if let missing = holes[name]?.first(where: { !given.contains($0) }) {
            let value = missing.hasPrefix("text.") ? "a text" : "the URL of an image, or the name of a mark"
            throw InvalidParameter(missing, "This preset needs '\(missing)': \(value).")
        }
        rest.pairs += preset.pairs.filter { !given.contains($0.name) }
        return rest
    }

    /// The parameters that requests with a preset must give besides `url`.
    func holes(of name: String) -> [String] { holes[name] ?? [] }

    /// The parameters `mark.NAME` and `text.NAME` that a query has parameters for, but not themselves.
    private static func holes(of query: QueryString) -> [String] {
        let names = Set(query.pairs.map(\.name))
        let bases = names.compactMap { name -> String? in
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3, ["mark", "text"].contains(parts[0]) else { return nil }
            return "\(parts[0]).\(parts[1])"
        }
        return Set(bases).subtracting(names).sorted()
    }

    /// An image, and a text, that stands for what requests give.
    private static let example = "https://example.com/"
}
