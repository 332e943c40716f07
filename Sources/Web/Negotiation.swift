import DarkroomNetwork
import DarkroomTransforms

/// Picks the format of `output=auto` by what the client says it takes.
enum Negotiation {
    /// Whether an `Accept` field names WebP and does not refuse it.
    ///
    /// Wildcards do not count: clients that cannot show WebP send `image/*` and `*/*` too. Of several members for WebP
    /// the one with the greatest weight counts; members that cannot be parsed are skipped (RFC 9110 §12.5.1).
    static func takesWebP(accept: String?) -> Bool {
        guard let accept else { return false }
        return FieldList(accept).members.contains { range in
            let parts = FieldList(range, separator: UInt8(ascii: ";")).members
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
