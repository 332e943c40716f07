/// One row of a parameter table: the complete definition of a parameter.
package struct Parameter<Draft>: Sendable {
    package let name: String
    /// Further names of the same parameter, which are read and never written.
    private(set) var aliases: [String] = []
    package let schema: ValueSchema
    /// Whether the name may stand without a value.
    package let allowsBareName: Bool
    /// What leaving the parameter out means, as a value that could be given; nil where no value says it (`w`) or where
    /// it depends (`q`). Known once the row is part of a ``ParameterTable``.
    package internal(set) var defaultText: String?
    package let documentation: ParameterDocumentation
    /// Reads a value into a draft; nil = the name has no `=`.
    let assign: @Sendable (String?, inout Draft) throws(InvalidParameter) -> Void
    /// Writes the canonical value of a draft: "" for a bare name, nil where there is nothing to write.
    let text: @Sendable (Draft) -> String?

    /// A parameter whose value is stored at one place of a draft, where it is read into and written from.
    init<Value>(
        _ name: String, _ format: ValueFormat<Value>, _ place: WritableKeyPath<Draft, Value> & Sendable,
        _ theme: ParameterDocumentation.Theme, _ step: ParameterDocumentation.Step,
        cost: ParameterDocumentation.Cost = .none, _ summary: String
    ) {
        let documentation = ParameterDocumentation(theme: theme, step: step, cost: cost, summary: summary)
        self.init(name, format, documentation, set: { $0[keyPath: place] = $1 }, get: { $0[keyPath: place] })
    }

    /// A parameter whose absence is nil.
    init<Value>(
        _ name: String, _ format: ValueFormat<Value>, _ place: WritableKeyPath<Draft, Value?> & Sendable,
        _ theme: ParameterDocumentation.Theme, _ step: ParameterDocumentation.Step,
        cost: ParameterDocumentation.Cost = .none, _ summary: String
    ) {
        let documentation = ParameterDocumentation(theme: theme, step: step, cost: cost, summary: summary)
        self.init(name, format, documentation, set: { $0[keyPath: place] = $1 }, get: { $0[keyPath: place] })
    }

    private init<Value>(
        _ name: String, _ format: ValueFormat<Value>, _ documentation: ParameterDocumentation,
        set: @escaping @Sendable (inout Draft, Value) -> Void, get: @escaping @Sendable (Draft) -> Value?
    ) {
        self.name = name
        self.documentation = documentation
        schema = format.schema
        allowsBareName = format.bareValue != nil
        let isOptional = format.bareValue != nil
        let expected = format.schema.expected + (isOptional ? " or have no value" : "")
        assign = { text, draft throws(InvalidParameter) in
            let isBare = text?.isEmpty ?? true
            guard let value = isBare ? format.bareValue : text.flatMap(format.read) else {
                let hint = ValueSuggestions.sentence(for: text, of: name, format.schema, isOptional: isOptional)
                throw InvalidParameter(name, got: text, expected: expected, hint: hint)
            }
            set(&draft, value)
        }
        text = { get($0).flatMap(format.write) }
    }

    /// A row of a draft that this kind of draft contains.
    init<Part>(_ parameter: Parameter<Part>, in path: WritableKeyPath<Draft, Part> & Sendable) {
        name = parameter.name
        aliases = parameter.aliases
        schema = parameter.schema
        allowsBareName = parameter.allowsBareName
        documentation = parameter.documentation
        assign = { text, draft throws(InvalidParameter) in try parameter.assign(text, &draft[keyPath: path]) }
        text = { parameter.text($0[keyPath: path]) }
    }

    /// The row with another name that it may be given by.
    func aliased(_ alias: String) -> Parameter {
        var parameter = self
        parameter.aliases.append(alias)
        return parameter
    }
}

/// What the reference page says of a parameter.
package struct ParameterDocumentation: Hashable, Sendable {
    /// The group that the reference page shows the parameter in.
    package enum Theme: String, CaseIterable, Sendable {
        case source, size, geometry, color, effects, composition, watermarks, encoding, caching, delivery, access
    }

    /// The part of a request's way that a parameter feeds.
    package struct Step: Hashable, Sendable {
        package let name: String

        static let fetch = Step(name: "fetch")
        static let decode = Step(name: "decode")
        static let encode = Step(name: "encode")
        static let cache = Step(name: "cache")
        static let respond = Step(name: "respond")
    }

    /// How much work a parameter adds to a request that is not answered from the cache.
    package enum Cost: String, CaseIterable, Sendable {
        /// No pixel is touched for it, or fewer are.
        case none
        /// One pass over the pixels of the result.
        case low
        /// Resampling or encoding, in proportion to the pixels of the source or the result.
        case medium
        /// Neighborhoods of every pixel, a search through all pixels, or a second image.
        case high
    }

    package let theme: Theme
    package let step: Step
    package let cost: Cost
    /// One sentence.
    package let summary: String
}

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
