@testable import DarkroomQuery

/// Values of the contract in YAML.
enum YAMLText {
    typealias Members = [(key: String, value: String)]

    /// A word of a query, in quotation marks if YAML would read it as something else.
    static func word(_ text: String) -> String {
        let isPlain = text.wholeMatch(of: /[A-Za-z][A-Za-z0-9-]*/) != nil
        let isOther = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"].contains(text.lowercased())
        return isPlain && !isOther ? text : quoted(text)
    }

    /// A sentence, in quotation marks if necessary.
    static func prose(_ text: String) -> String {
        let isPlain = text.first?.isLetter == true && !text.contains(": ") && !text.contains(" #")
        return isPlain && !text.hasSuffix(":") ? text : quoted(text)
    }

    static func flow(_ members: Members) -> String {
        "{ \(members.map { "\($0.key): \($0.value)" }.joined(separator: ", ")) }"
    }

    /// The members of a schema (JSON Schema 2020-12).
    static func members(of schema: ValueSchema, defaultText: String?) -> Members {
        var members: Members
        var isText = true
        switch schema {
        case .url: members = [("type", "string"), ("format", "uri")]
        case .integer(let range):
            isText = false
            members = [("type", "integer"), ("minimum", "\(range.lowerBound)"), ("maximum", "\(range.upperBound)")]
        case .number(let range, let decimals):
            isText = false
            members = [
                ("type", "number"), ("minimum", ValueSchema.plain(range.lowerBound)),
                ("maximum", ValueSchema.plain(range.upperBound)),
            ]
            if let decimals {
                members.append(("multipleOf", "0." + String(repeating: "0", count: decimals - 1) + "1"))
            }
        case .boolean:
            isText = false
            members = [("type", "boolean")]
        case .choice(let names, let aliases):
            members = [("type", "string"), ("enum", "[\((names + aliases).map(word).joined(separator: ", "))]")]
        case .length:
            isText = false
            members = [("anyOf", "[\(alternatives(of: schema).map(flow).joined(separator: ", "))]")]
        case .color: members = [("type", "string"), ("pattern", quoted("^\(ValueSchema.colorPattern)$"))]
        case .text(let pattern, _): members = [("type", "string"), ("pattern", quoted(pattern))]
        }
        if let defaultText { members.append(("default", isText ? word(defaultText) : defaultText)) }
        return members
    }

    /// The forms of a length: pixels, or a percentage. None for other values.
    static func alternatives(of schema: ValueSchema) -> [Members] {
        guard case .length(let range, let percent) = schema else { return [] }
        let sign = percent.lowerBound < 0 ? "-?" : ""
        return [
            members(of: .integer(range), defaultText: nil),
            [("type", "string"), ("pattern", quoted("^\(sign)[0-9]{1,3}(\\.[0-9]{1,2})?[p%]$"))],
        ]
    }

    /// A value that differs from the usual default; nil for text in a syntax of its own, of which a person writes one.
    static func example(of schema: ValueSchema) -> String? {
        switch schema {
        case .url: "https://example.com/photo.jpg"
        case .integer(let range): "\(range.upperBound)"
        case .number(let range, _): ValueSchema.plain(range.upperBound)
        case .boolean: "true"
        case .choice(let names, _): names.last.map(word)
        case .length(let range, _): "\(range.upperBound)"
        case .color: "white"
        case .text: nil
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
