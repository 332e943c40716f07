import DarkroomNetwork
import DarkroomRequests

/// The parameters of named parts: `mark.NAME=URL` is a further image of the result, `text.NAME=value` a text, and
/// `mark.NAME.PARAM=value` and `text.NAME.PARAM=value` say how they are made and where they lie.
enum PartParameters {
    static func families(_ limits: QueryLimits) -> [ParameterFamily<ImageQueryDraft>] {
        [
            family("mark", MarkPartDraft.table(limits), \.markParts, \.source, .markSource),
            family("text", TextPartDraft.table(limits), \.textParts, \.text, TextBoxParameters.text),
        ]
    }

    /// - Parameters:
    ///   - value: what the parameter of a part's own name gives, in this format.
    private static func family<Part>(
        _ kind: String, _ table: ParameterTable<Part>,
        _ parts: WritableKeyPath<ImageQueryDraft, [String: Part]> & Sendable,
        _ value: WritableKeyPath<Part, String?> & Sendable, _ format: ValueFormat<String>
    ) -> ParameterFamily<ImageQueryDraft> {
        ParameterFamily(prefix: "\(kind).") { rest, text, draft throws(InvalidParameter) in
            let member = try PartMember(rest, of: kind)
            if draft[keyPath: parts][member.name] == nil { try draft.requireSpace(for: member) }
            var part = draft[keyPath: parts][member.name] ?? table.initial
            if let parameter = member.parameter {
                try table.assign(parameter, text, of: member.base, to: &part)
            } else {
                part[keyPath: value] = try member.value(text, format)
            }
            draft[keyPath: parts][member.name] = part
        } pairs: { draft in
            draft[keyPath: parts].sorted { $0.key < $1.key }.flatMap { name, part in
                [QueryString.Pair(name: "\(kind).\(name)", value: part[keyPath: value])]
                    + table.write(part).pairs.map { .init(name: "\(kind).\(name).\($0.name)", value: $0.value) }
            }
        }
    }
}

private struct PartMember {
    let kind: String
    let name: String
    /// Nil = the parameter that gives the part itself.
    let parameter: String?

    /// - Parameter rest: the name of the parameter after the kind and its dot.
    init(_ rest: String, of kind: String) throws(InvalidParameter) {
        let parts = rest.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard Layer.isName(parts[0]) else {
            throw InvalidParameter(
                "\(kind).\(rest)",
                "The name in parameter '\(InvalidParameter.clipped("\(kind).\(rest)"))' must be 1 to 32 lowercase "
                    + "letters, digits and hyphens.")
        }
        self.kind = kind
        name = parts[0]
        parameter = parts.count > 1 ? parts[1] : nil
    }

    var base: String { "\(kind).\(name)" }

    func value(_ text: String?, _ format: ValueFormat<String>) throws(InvalidParameter) -> String {
        guard let text, !text.isEmpty, let value = format.read(text) else {
            throw InvalidParameter(base, got: text, expected: format.schema.expected)
        }
        return value
    }
}

extension ImageQueryDraft {
    fileprivate func requireSpace(for member: PartMember) throws(InvalidParameter) {
        try require(
            markParts.count + textParts.count < Layer.maxCount, member.base,
            "A request must have at most \(Layer.maxCount) named images and texts.")
    }
}

extension ParameterTable {
    /// Reads a parameter of a part, and names it in errors as the client did.
    fileprivate func assign(
        _ name: String, _ text: String?, of base: String, to draft: inout Draft
    ) throws(InvalidParameter) {
        let full = "\(base).\(name)"
        guard let parameter = parameters.first(where: { $0.name == name }) else {
            let hint = NameSuggestions.sentence(for: name, among: parameters.map(\.name)) { "\(base).\($0)" }
            throw InvalidParameter(full, "There is no parameter '\(InvalidParameter.clipped(full))'.\(hint)")
        }
        do throws(InvalidParameter) {
            try parameter.assign(text, &draft)
        } catch {
            throw InvalidParameter(full, error.detail.replacing("'\(name)'", with: "'\(full)'", maxReplacements: 1))
        }
    }
}
