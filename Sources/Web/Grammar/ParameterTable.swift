/// The parameters that one path takes. What is unknown, given twice or of another shape is refused, never guessed.
struct ParameterTable<Draft>: Sendable {
    /// Each under its own name, in the order of the documentation.
    let parameters: [Parameter<Draft>]
    private let indices: [String: Int]

    init(_ parameters: [Parameter<Draft>]) {
        self.parameters = parameters
        indices = Dictionary(uniqueKeysWithValues: zip(parameters.map(\.name), parameters.indices))
    }

    /// Puts the values of a query, given as received after the `?`, into a draft.
    func read(_ query: String, into draft: inout Draft) throws(InvalidParameter) {
        try read(QueryString(parsing: query), into: &draft)
    }

    /// Puts the values of a query into a draft.
    func read(_ query: QueryString, into draft: inout Draft) throws(InvalidParameter) {
        var given: Set<Int> = []
        for pair in query.pairs {
            guard let index = indices[pair.name] else { throw unknown(pair.name) }
            guard given.insert(index).inserted else {
                throw InvalidParameter(givenTwice: pair.name)
            }
            try parameters[index].assign(pair.value, &draft)
        }
    }

    private func unknown(_ name: String) -> InvalidParameter {
        let matches = NameSuggestions.of(name, among: parameters.map(\.name)).map { "'\($0)'" }
        let hint = matches.isEmpty ? "" : " Did you mean \(matches.joined(separator: " or "))?"
        return InvalidParameter(name, "There is no parameter '\(InvalidParameter.clipped(name))'.\(hint)")
    }
}
