/// The parameters of one endpoint. An unknown, repeated or malformed parameter is refused, never guessed.
package struct ParameterTable<Draft: Sendable>: Sendable {
    /// The rows in the order of the documentation, which is also the order of canonical queries.
    package let parameters: [Parameter<Draft>]
    /// What a query without parameters means.
    let initial: Draft
    private let indices: [String: Int]

    init(_ parameters: [Parameter<Draft>], initial: Draft) {
        self.parameters = parameters.map { $0.withDefault(of: initial) }
        self.initial = initial
        indices = Dictionary(
            uniqueKeysWithValues: zip(parameters, parameters.indices).flatMap { parameter, index in
                ([parameter.name] + parameter.aliases).map { ($0, index) }
            })
    }

    /// Whether there is a parameter of this name.
    func contains(_ name: String) -> Bool { indices[name] != nil }

    /// Reads a query into a new draft.
    func read(_ query: QueryString) throws(InvalidParameter) -> Draft {
        var draft = initial
        var given: Set<Int> = []
        for (place, pair) in query.pairs.enumerated() {
            guard let index = indices[pair.name] else {
                throw InvalidParameter(
                    unknown: pair.name, known: parameters.map(\.name),
                    after: contains("url") ? query.pairs[..<place].first { $0.name == "url" }?.value : nil)
            }
            guard given.insert(index).inserted else { throw InvalidParameter(repeated: pair.name) }
            try parameters[index].assign(pair.value, &draft)
        }
        return draft
    }

    /// The values of a draft that differ from the defaults, each in its canonical spelling.
    func write(_ draft: Draft) -> QueryString {
        QueryString(
            pairs: parameters.compactMap { parameter in
                guard let text = parameter.text(draft), text != parameter.text(initial) else { return nil }
                return QueryString.Pair(name: parameter.name, value: text)
            })
    }
}
