/// The reference of a parameter table in Markdown, one section with a table for each theme.
package struct ParameterReference: Sendable {
    private struct Row: Sendable {
        var theme: ParameterDocumentation.Theme
        var cells: [String]
    }

    private let rows: [Row]

    package init<Draft>(_ table: ParameterTable<Draft>) {
        rows = table.parameters.map { parameter in
            let documentation = parameter.documentation
            let values = parameter.schema.expected + (parameter.allowsBareName ? ", or no value" : "")
            return Row(
                theme: documentation.theme,
                cells: [
                    "`\(parameter.name)`", documentation.summary, values.replacing("|", with: "\\|"),
                    parameter.defaultText.map { "`\($0)`" } ?? "–", documentation.step.name,
                    documentation.cost.rawValue,
                ])
        }
    }

    /// Sections in the order of ``ParameterDocumentation/Theme``, rows in the order of the table.
    package var markdown: String {
        ParameterDocumentation.Theme.allCases.compactMap(section).joined(separator: "\n")
    }

    private func section(_ theme: ParameterDocumentation.Theme) -> String? {
        let rows = rows.filter { $0.theme == theme }
        guard !rows.isEmpty else { return nil }
        let header = [
            ["Parameter", "Meaning", "Values", "Default", "Step", "Cost"], Array(repeating: "---", count: 6),
        ]
        let lines = (header + rows.map(\.cells)).map { "| \($0.joined(separator: " | ")) |" }
        let title = theme.rawValue.prefix(1).uppercased() + theme.rawValue.dropFirst()
        return "### \(title)\n\n\(lines.joined(separator: "\n"))\n"
    }
}
