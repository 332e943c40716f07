import DarkroomQuery

/// What an option of another service becomes.
enum OptionOutcome: Hashable, Sendable {
    /// Darkroom's parameters, in Markdown.
    case parameters(String)
    /// It changes nothing, for this reason: a sentence.
    case ignored(String)
    /// A path with it is refused, for this reason: a sentence.
    case refused(String)
}

/// The meaning of a path's options, while they are read.
protocol OptionDraft {
    /// The options that change nothing, in the order of the path.
    var ignored: [Translation.Ignored] { get set }
}

/// An option of another service: its names, how its arguments are read, and what becomes of it.
struct OptionRow<Arguments, Draft: OptionDraft>: Sendable {
    typealias Read = @Sendable (Arguments, inout Draft) throws(InvalidParameter) -> Void

    /// The name and its short forms.
    let names: [String]
    /// The arguments as the documentation of the service writes them.
    var values = ""
    /// Whether the option belongs to a paid edition of the service.
    var isPro = false
    let outcome: OptionOutcome
    /// Reads the arguments, or checks the arguments of an ignored option; nil = all arguments are accepted.
    var read: Read?
}

extension OptionRow {
    /// An option that becomes parameters, which a text in Markdown names.
    init(_ name: String, aliases: [String] = [], _ values: String, _ text: String, _ read: @escaping Read) {
        self.init(names: [name] + aliases, values: values, outcome: .parameters(text), read: read)
    }

    init(_ name: String, aliases: [String] = [], _ values: String, _ outcome: OptionOutcome) {
        self.init(names: [name] + aliases, values: values, outcome: outcome)
    }
}

/// The options of another service, one row each.
struct OptionTable<Arguments, Draft: OptionDraft>: Sendable {
    typealias Row = OptionRow<Arguments, Draft>

    /// In the order of the documentation.
    let rows: [Row]
    private let rowsByName: [String: Row]
    private let noun: String
    private let refusal: String

    /// - Parameters:
    ///   - noun: what messages call a row.
    ///   - refusal: what messages say of a refused option.
    init(_ rows: [Row], noun: String = "Option", refusal: String = "is not available") {
        self.rows = rows
        rowsByName = Dictionary(rows.flatMap { row in row.names.map { ($0, row) } }) { first, _ in first }
        (self.noun, self.refusal) = (noun, refusal)
    }

    /// Reads an option into a draft. Throws for an unknown or refused option, and for arguments that cannot be read.
    func apply(_ name: String, _ arguments: Arguments, to draft: inout Draft) throws(InvalidParameter) {
        guard let row = rowsByName[name] else {
            let hint = NameSuggestions.sentence(for: name, among: rowsByName.keys.sorted())
            throw InvalidParameter(
                name, "There is no \(noun.lowercased()) '\(InvalidParameter.clipped(name))'.\(hint)")
        }
        switch row.outcome {
        case .parameters: try row.read?(arguments, &draft)
        case .ignored(let reason):
            try row.read?(arguments, &draft)
            let option = Translation.Ignored(name: name, reason: reason)
            if !draft.ignored.contains(option) { draft.ignored.append(option) }
        case .refused(let reason):
            throw InvalidParameter(name, "\(noun) '\(name)' \(refusal): \(reason)")
        }
    }
}

extension Comparable {
    /// The value, or the bound of the range that is nearest to it.
    func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
