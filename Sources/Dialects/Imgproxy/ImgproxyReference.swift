extension ImgproxyTable {
    /// The table of the documentation, in Markdown.
    package var reference: String {
        let lines = rows.map { row in
            let names = row.names.map { "`\($0)`" }.joined(separator: ", ")
            return "| \(names) | \(row.isPro ? "Pro" : "") | \(row.outcome.markdown) |"
        }
        return (["| Option | | In Darkroom |", "|---|---|---|"] + lines).joined(separator: "\n") + "\n"
    }
}

extension ImgproxyTable.Outcome {
    fileprivate var markdown: String {
        switch self {
        case .parameter(let text): text.prefix(1).uppercased() + text.dropFirst()
        case .ignored(let reason): "Ignored. \(reason)"
        case .refused(let reason): "400. \(reason)"
        }
    }
}
