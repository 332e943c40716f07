import DarkroomNetwork
import DarkroomTransforms

/// Chooses the format of `output=auto` by the `Accept` field.
package enum FormatNegotiation {
    /// Whether an `Accept` field names WebP with a weight above zero (RFC 9110 §12.5.1).
    ///
    /// Wildcards do not count: clients that cannot show WebP send `image/*` and `*/*` too. Of several members for WebP
    /// the greatest weight counts; members that cannot be parsed are skipped.
    package static func acceptsWebP(_ accept: String?) -> Bool {
        guard let accept else { return false }
        return FieldList(accept).members.contains { range in
            let parts = FieldList(range, separator: UInt8(ascii: ";")).members
            guard let type = parts.first, type.lowercased() == OutputFormat.webp.mediaType else { return false }
            return hasPositiveWeight(parameters: parts.dropFirst())
        }
    }

    /// Why a response has its format, in one sentence.
    package static func reason(for query: ImageQuery, accept: String?) -> String {
        guard query.isNegotiated else { return "The parameter 'output' asks for it." }
        return acceptsWebP(accept)
            ? "Accept names image/webp."
            : "Accept does not name image/webp, so it is the source's own format, or JPEG or PNG where browsers do not "
                + "show that."
    }

    /// The weight among a media range's parameters; absent, it is 1 (RFC 9110 §12.4.2).
    private static func hasPositiveWeight(parameters: ArraySlice<Substring>) -> Bool {
        for parameter in parameters {
            guard let equals = parameter.firstIndex(of: "="), parameter[..<equals].lowercased() == "q" else { continue }
            return isPositiveWeight(parameter[equals...].dropFirst())
        }
        return true
    }

    /// Whether the text is a weight from 0.001 to 1 with at most three decimals.
    private static func isPositiveWeight(_ text: Substring) -> Bool {
        guard let weight = Digits.decimal(String(text)), text.utf8.count <= 5 else { return false }
        return weight > 0 && weight <= 1
    }
}
