@testable import DarkroomDialects
@testable import DarkroomQuery

/// The reference of a parameter table in Markdown, one section with a table for each theme.
extension ParameterTable {
    /// Sections in the order of ``ParameterDocumentation/Theme``, rows in the order of the table.
    var markdown: String {
        ParameterDocumentation.Theme.allCases.compactMap { theme in
            section(theme.rawValue.prefix(1).uppercased() + theme.rawValue.dropFirst()) {
                $0.documentation.theme == theme
            }
        }.joined(separator: "\n")
    }

    /// The parameters for which this is true, under a title; nil if there are none.
    func section(_ title: String, where isIncluded: (Parameter<Draft>) -> Bool) -> String? {
        let rows = parameters.filter(isIncluded).map { parameter in
            let documentation = parameter.documentation
            let values = parameter.schema.expected + (parameter.allowsBareName ? ", or no value" : "")
            return [
                "`\(parameter.name)`", documentation.summary, values.replacing("|", with: "\\|"),
                parameter.defaultText.map { "`\($0)`" } ?? "–", documentation.step.name, documentation.cost.rawValue,
            ]
        }
        guard !rows.isEmpty else { return nil }
        let header = [
            ["Parameter", "Meaning", "Values", "Default", "Step", "Cost"], Array(repeating: "---", count: 6),
        ]
        let lines = (header + rows).map { "| \($0.joined(separator: " | ")) |" }
        return "### \(title)\n\n\(lines.joined(separator: "\n"))\n"
    }
}

/// A line of the table that lists every option of another service.
struct OptionReference {
    /// The option as its service documents it, without Markdown.
    let syntax: String
    let outcome: OptionOutcome

    static let cloudflare = CloudflareOptions.table.rows.map { row in
        OptionReference(syntax: row.names.joined(separator: ", ") + "=\(row.values)", outcome: row.outcome)
    }

    /// All filters, and the other parts of a path before them.
    static let thumbor =
        thumborParts.map { OptionReference(syntax: $0, outcome: .parameters($1)) }
        + ThumborFilters.table.rows.map { OptionReference(syntax: "\($0.names[0])(\($0.values))", outcome: $0.outcome) }

    /// The parts of a path that are not filters, and what becomes of each.
    private static let thumborParts = [
        ("unsafe/", "an unsigned request, if the server allows unsigned requests"),
        ("meta/", "`output=json`: [Darkroom's document](parameters.md#descriptions-and-placeholders)"),
        ("trim[:corner][:tolerance]/", "`trim`, `tcorner`"),
        ("AxB:CxD/", "`crop`, in pixels or parts of the source; without the source's last column and row"),
        ("fit-in/", "`fit=inside` without enlarging"), ("full-fit-in/", "`fit=outside&enlarge=true`"),
        ("adaptive-fit-in/", "`fit=inside&swap=true`"),
        ("adaptive-full-fit-in/", "`fit=outside&enlarge=true&swap=true`"),
        ("stretch/", "`fit=fill&enlarge=true`"),
        ("WxH/", "`w`, `h`, with `fit=cover&enlarge=true` unless the path says otherwise; 0 = none"),
        ("origxH/", "`w=100p`, as `h=100p` for `Wxorig`; nothing for `origxorig`"),
        ("-Wx-H/", "`flop` for the width, `flip` for the height"),
        ("LxT[:RxB]/", "the padding of the filter `fill`"), ("left|right|center/", "`a`"),
        ("top|bottom|middle/", "`a`"),
        ("smart/", "`a=faces` with `rules=thumbor`; `a=attention` on a server that does not look for faces"),
        ("image", "`url`; percent-encoded or not, or in base64 after `b64:`"),
        ("color:name", "`url=color:///RRGGBBAA` with `fit=fill&enlarge=true`, in JPEG without `format`"),
    ]

    /// A table of options, with a header.
    static func markdown(_ rows: [OptionReference]) -> String {
        (["| Option | In Darkroom |", "|---|---|"]
            + rows.map { "| `\($0.syntax.replacing("|", with: "\\|"))` | \($0.outcome.markdown) |" })
            .joined(separator: "\n") + "\n"
    }
}

extension OptionOutcome {
    /// The cell of a reference table.
    fileprivate var markdown: String {
        switch self {
        case .parameters(let text): text
        case .ignored(let reason): "Ignored. \(reason)"
        case .refused(let reason): "400. \(reason)"
        }
    }
}

extension OptionTable where Draft == ImgproxyDraft {
    var reference: String {
        let lines = rows.map { row in
            let names = row.names.map { "`\($0)`" }.joined(separator: ", ")
            let outcome = row.outcome.markdown
            return "| \(names) | \(row.isPro ? "Pro" : "") | \(outcome.prefix(1).uppercased() + outcome.dropFirst()) |"
        }
        return (["| Option | | In Darkroom |", "|---|---|---|"] + lines).joined(separator: "\n") + "\n"
    }
}
