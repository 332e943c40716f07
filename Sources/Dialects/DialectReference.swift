/// What becomes of an option of another service.
package enum OptionOutcome: Hashable, Sendable {
    /// Darkroom's parameters, in Markdown.
    case parameters(String)
    /// It changes nothing, for this reason: a sentence.
    case ignored(String)
    /// A path with it is refused, for this reason: a sentence.
    case refused(String)

    /// The cell of a reference table.
    package var markdown: String {
        switch self {
        case .parameters(let text): text
        case .ignored(let reason): "Ignored. \(reason)"
        case .refused(let reason): "400. \(reason)"
        }
    }
}

/// A line of the table that lists every option of another service.
package struct OptionReference: Hashable, Sendable {
    /// The option as its service documents it, without Markdown.
    package let syntax: String
    package let outcome: OptionOutcome

    /// A table of options, with a header.
    package static func markdown(_ rows: [OptionReference]) -> String {
        (["| Option | In Darkroom |", "|---|---|"]
            + rows.map { "| `\($0.syntax.replacing("|", with: "\\|"))` | \($0.outcome.markdown) |" })
            .joined(separator: "\n") + "\n"
    }
}
