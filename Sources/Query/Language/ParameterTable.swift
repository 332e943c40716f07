/// The parameters of one endpoint. An unknown, repeated or malformed parameter is refused, never guessed.
package struct ParameterTable<Draft: Sendable>: Sendable {
    /// The rows in the order of the documentation, which is also the order of canonical queries.
    package let parameters: [Parameter<Draft>]
    /// What a query without parameters means.
    let initial: Draft
    /// Parameters whose names clients choose.
    let families: [ParameterFamily<Draft>]
    private let indices: [String: Int]

    init(_ parameters: [Parameter<Draft>], families: [ParameterFamily<Draft>] = [], initial: Draft) {
        self.families = families
        self.parameters = parameters.map { parameter in
            var parameter = parameter
            parameter.defaultText = parameter.text(initial).flatMap { $0.isEmpty ? nil : $0 }
            return parameter
        }
        self.initial = initial
        indices = Dictionary(
            uniqueKeysWithValues: zip(parameters, parameters.indices).flatMap { parameter, index in
                ([parameter.name] + parameter.aliases).map { ($0, index) }
            })
    }

    func contains(_ name: String) -> Bool { indices[name] != nil }

    func read(_ query: QueryString) throws(InvalidParameter) -> Draft {
        var draft = initial
        var given: Set<Int> = []
        var members: Set<String> = []
        for (place, pair) in query.pairs.enumerated() {
            guard let index = indices[pair.name] else {
                if let family = families.first(where: { pair.name.hasPrefix($0.prefix) }) {
                    guard members.insert(pair.name).inserted else { throw InvalidParameter(repeated: pair.name) }
                    try family.assign(String(pair.name.dropFirst(family.prefix.count)), pair.value, &draft)
                    continue
                }
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
        let own = parameters.compactMap { parameter -> QueryString.Pair? in
            guard let text = parameter.text(draft), text != parameter.text(initial) else { return nil }
            return QueryString.Pair(name: parameter.name, value: text)
        }
        return QueryString(pairs: own + families.flatMap { $0.pairs(draft) })
    }
}

/// Parameters with a common prefix, whose further names clients choose.
struct ParameterFamily<Draft>: Sendable {
    let prefix: String
    /// Reads a parameter into a draft: the name after the prefix, and the value, or nil for a name without `=`.
    let assign: @Sendable (String, String?, inout Draft) throws(InvalidParameter) -> Void
    /// The parameters that a draft has, in canonical order and spelling.
    let pairs: @Sendable (Draft) -> [QueryString.Pair]
}

extension ParameterFamily {
    /// A family of a draft that this kind of draft contains.
    init<Part>(_ family: ParameterFamily<Part>, in path: WritableKeyPath<Draft, Part> & Sendable) {
        prefix = family.prefix
        assign = { name, text, draft throws(InvalidParameter) in try family.assign(name, text, &draft[keyPath: path]) }
        pairs = { family.pairs($0[keyPath: path]) }
    }
}
