extension ImgproxyTable {
    /// The table of the documentation, in Markdown.
    package var reference: String {
        let lines = rows.map { row in
            let names = row.names.map { "`\($0)`" }.joined(separator: ", ")
            let outcome = row.outcome.markdown
            return "| \(names) | \(row.isPro ? "Pro" : "") | \(outcome.prefix(1).uppercased() + outcome.dropFirst()) |"
        }
        return (["| Option | | In Darkroom |", "|---|---|---|"] + lines).joined(separator: "\n") + "\n"
    }
}
