/// Parts of queries that have a name: `preset=NAME` stands for the parameters of one.
package struct Presets: Hashable, Sendable {
    private var queries: [String: QueryString] = [:]

    /// None.
    package init() {}

    package var names: [String] { queries.keys.sorted() }
    package var isEmpty: Bool { queries.isEmpty }

    /// Why a preset can't be had: a sentence.
    package struct Flaw: Error, CustomStringConvertible {
        package let description: String
    }

    /// Takes over a preset after it was checked against the grammar of those limits.
    ///
    /// - Parameters:
    ///   - name: 1 to 32 letters, digits, hyphens and underscores of ASCII, not given yet.
    ///   - query: as it would follow `/image?`, without `url`.
    package mutating func add(_ name: String, _ query: String, limits: QueryLimits) throws(Flaw) {
        guard SigningKey.isName(name) else {
            throw Flaw(description: "a preset's name has 1 to 32 letters A-Z and a-z, digits, - and _")
        }
        guard queries[name] == nil else { throw Flaw(description: "the preset '\(name)' is given twice") }
        do throws(InvalidParameter) {
            let parameters = try QueryString(parsing: query)
            guard !parameters.pairs.contains(where: { $0.name == "url" }) else {
                throw InvalidParameter("url", "A preset has no 'url'; that is what requests give.")
            }
            _ = try ImageQueryGrammar(limits: limits).parse(
                QueryString(pairs: [QueryString.Pair(name: "url", value: "file")] + parameters.pairs))
            queries[name] = parameters
        } catch {
            throw Flaw(description: "the preset '\(name)' means nothing: \(error.detail)")
        }
    }

    /// The query with the parameters of the preset that it names, but for those that it gives itself. Nothing is left that tells it
    /// from one that was spelled out.
    func expanding(_ query: QueryString) throws(InvalidParameter) -> QueryString {
        var rest = query
        guard let name = rest.removeValue(of: AccessGrammar.preset.name) else { return query }
        guard let preset = queries[name] else { throw unknown(name) }
        let given = Set(rest.pairs.map(\.name))
        rest.pairs += preset.pairs.filter { !given.contains($0.name) }
        return rest
    }

    private func unknown(_ name: String) -> InvalidParameter {
        let matches = NameSuggestions.of(name, among: names).map { "'\($0)'" }
        let hint = matches.isEmpty ? "" : " Did you mean \(matches.joined(separator: " or "))?"
        return InvalidParameter(
            "preset", "There is no preset '\(InvalidParameter.clipped(name))' on this server.\(hint)")
    }
}
