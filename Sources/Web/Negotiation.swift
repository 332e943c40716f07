import DarkroomTransforms

/// Picks the format of `output=auto` by what the client says it takes.
enum Negotiation {
    /// Whether an `Accept` field names WebP and does not refuse it.
    ///
    /// Wildcards do not count: clients that cannot show WebP send `image/*` and `*/*` too. Of several members for WebP
    /// the one with the greatest weight counts; members that cannot be parsed are skipped (RFC 9110 §12.5.1).
    static func takesWebP(accept: String?) -> Bool {
        guard let accept else { return false }
        return members(of: accept, separator: UInt8(ascii: ",")).contains { range in
            let parts = members(of: range, separator: UInt8(ascii: ";"))
            guard let type = parts.first, type.lowercased() == OutputFormat.webp.mediaType else { return false }
            return isWanted(parameters: parts.dropFirst())
        }
    }

    /// Why an answer has its format: one sentence for people.
    static func reason(for output: ImageQuery.Output, accept: String?) -> String {
        guard output.isNegotiated else { return "The parameter 'output' asks for it." }
        return takesWebP(accept: accept)
            ? "Accept names image/webp."
            : "Accept does not name image/webp, so it is the source's own format, or JPEG or PNG where browsers do not show that."
    }

    /// Whether the weight among a media range's parameters is above zero; without one it is 1 (RFC 9110 §12.4.2).
    private static func isWanted(parameters: ArraySlice<Substring>) -> Bool {
        for parameter in parameters {
            guard let equals = parameter.firstIndex(of: "="), parameter[..<equals].lowercased() == "q" else { continue }
            return isPositiveWeight(parameter[equals...].dropFirst())
        }
        return true
    }

    /// `0.001`…`1.000`, at most three decimals.
    private static func isPositiveWeight(_ text: Substring) -> Bool {
        guard let weight = Digits.decimal(String(text)), text.utf8.count <= 5 else { return false }
        return weight > 0 && weight <= 1
    }

    /// What stands between separators that are not inside a quoted string, without blanks around it.
    private static func members(of text: some StringProtocol, separator: UInt8) -> [Substring] {
        let text = Substring(text)
        var members: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in text.utf8.indices {
            let byte = text.utf8[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == separator, !isQuoted {
                members.append(trimmed(text[start..<index]))
                start = text.utf8.index(after: index)
            }
        }
        members.append(trimmed(text[start...]))
        return members
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let start = text.drop(while: isBlank)
        return start.lastIndex { !isBlank($0) }.map { start[...$0] } ?? ""
    }
}

extension ImageQuery.Output {
    /// Whether the answer depends on `Accept`.
    var isNegotiated: Bool {
        if case .auto = self { return true }
        return false
    }

    /// The encoding for a client that takes WebP or does not.
    func options(takesWebP: Bool) -> OutputOptions {
        switch self {
        case .explicit(let options): options
        case .auto(let quality, let lossless, let interlaced):
            OutputOptions(
                format: takesWebP ? .webp : nil, quality: quality, lossless: lossless, interlaced: interlaced)
        }
    }
}
