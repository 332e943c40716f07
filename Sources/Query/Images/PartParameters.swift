import DarkroomNetwork
import DarkroomRequests

/// The parameters of named parts: `mark.NAME=URL` is a further image of the result, `text.NAME=value` a text, and
/// `mark.NAME.PARAM=value` and `text.NAME.PARAM=value` say how they are made and where they lie.
enum PartParameters {
    static func families(_ limits: QueryLimits) -> [ParameterFamily<ImageQueryDraft>] {
        [marks(limits), texts(limits)]
    }

    /// The parameters of named images.
    private static func marks(_ limits: QueryLimits) -> ParameterFamily<ImageQueryDraft> {
        let table = MarkPartDraft.table(limits)
        return ParameterFamily(prefix: "mark.") { rest, text, draft throws(InvalidParameter) in
            let member = try PartMember(rest, of: "mark")
            if draft.markParts[member.name] == nil { try draft.requireSpace(for: member) }
            var part = draft.markParts[member.name] ?? table.initial
            if let parameter = member.parameter {
                try table.assign(parameter, text, of: member.base, to: &part)
            } else {
                part.source = try member.value(text, .markSource)
            }
            draft.markParts[member.name] = part
        } pairs: { draft in
            draft.markParts.sorted { $0.key < $1.key }.flatMap { name, part in
                [QueryString.Pair(name: "mark.\(name)", value: part.source)]
                    + table.write(part).pairs.map { .init(name: "mark.\(name).\($0.name)", value: $0.value) }
            }
        }
    }

    /// The parameters of named texts.
    private static func texts(_ limits: QueryLimits) -> ParameterFamily<ImageQueryDraft> {
        let table = TextPartDraft.table(limits)
        return ParameterFamily(prefix: "text.") { rest, text, draft throws(InvalidParameter) in
            let member = try PartMember(rest, of: "text")
            if draft.textParts[member.name] == nil { try draft.requireSpace(for: member) }
            var part = draft.textParts[member.name] ?? table.initial
            if let parameter = member.parameter {
                try table.assign(parameter, text, of: member.base, to: &part)
            } else {
                part.text = try member.value(text, TextBoxParameters.text)
            }
            draft.textParts[member.name] = part
        } pairs: { draft in
            draft.textParts.sorted { $0.key < $1.key }.flatMap { name, part in
                [QueryString.Pair(name: "text.\(name)", value: part.text)]
                    + table.write(part).pairs.map { .init(name: "text.\(name).\($0.name)", value: $0.value) }
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
            let near = NameSuggestions.names(for: name, among: parameters.map(\.name)).map { "'\(base).\($0)'" }
            throw InvalidParameter(
                full,
                "There is no parameter '\(InvalidParameter.clipped(full))'."
                    + (near.isEmpty ? "" : " Did you mean \(near.joined(separator: " or "))?"))
        }
        do throws(InvalidParameter) {
            try parameter.assign(text, &draft)
        } catch {
            throw InvalidParameter(full, error.detail.replacing("'\(name)'", with: "'\(full)'", maxReplacements: 1))
        }
    }
}
