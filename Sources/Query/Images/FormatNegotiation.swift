import DarkroomNetwork
import DarkroomTransforms

/// Chooses the format of `output=auto` by the `Accept` field.
package enum FormatNegotiation {
    /// The formats of a list that an `Accept` field names with a weight above zero (RFC 9110 §12.5.1): the client's
    /// greatest weight first, and in the order of the list where weights are equal.
    ///
    /// Wildcards do not count: clients that cannot show a format send `image/*` and `*/*` too. Of several members for
    /// one format the greatest weight counts; members that cannot be parsed are skipped.
    package static func accepted(_ accept: String?, of list: FormatList) -> FormatList {
        guard let accept, !list.isEmpty else { return FormatList() }
        var weights = SIMD8<Int16>()
        for range in FieldList(accept).members {
            let type = Substring(range.utf8.prefix { $0 != UInt8(ascii: ";") }).trimmingBlanks
            guard let place = (0..<list.count).first(where: { type.isMediaType(of: list[$0]) }) else { continue }
            let weight = type.utf8.count == range.utf8.count ? 1_000 : weight(of: range)
            weights[place] = max(weights[place], Int16(weight))
        }
        return ordered(list, by: weights)
    }

    /// Why a response has its format, which may be one of a list, in one sentence.
    package static func reason(for query: ImageQuery, accept: String?, of list: FormatList) -> String {
        guard query.isNegotiated else { return "The parameter 'output' asks for it." }
        guard !list.isEmpty else { return "This server has no encoder for other formats than the source's own." }
        let names = { (list: FormatList) in list.formats.map(\.mediaType).joined(separator: ", ") }
        let accepted = accepted(accept, of: list)
        return accepted.isEmpty
            ? "Accept does not name \(names(list)), so it is the source's own format, or JPEG or PNG where browsers do "
                + "not show that."
            : "Accept names \(names(accepted))."
    }

    private static func ordered(_ list: FormatList, by weights: SIMD8<Int16>) -> FormatList {
        var (ordered, weights) = (FormatList(), weights)
        while let best = (0..<list.count).max(by: { (weights[$0], -$0) < (weights[$1], -$1) }), weights[best] > 0 {
            ordered.append(list[best])
            weights[best] = 0
        }
        return ordered
    }

    /// The weight among a media range's parameters in thousandths; absent, it is 1000 (RFC 9110 §12.4.2). 0 if it is
    /// malformed.
    static func weight(of range: Substring) -> Int {
        for parameter in FieldList(range, separator: UInt8(ascii: ";")).members.dropFirst() {
            guard let equals = parameter.firstIndex(of: "="), parameter[..<equals].lowercased() == "q" else { continue }
            return weight(parameter[equals...].dropFirst())
        }
        return 1_000
    }

    /// A weight from 0.001 to 1 with at most three decimals; 0 for anything else.
    private static func weight(_ text: Substring) -> Int {
        guard let weight = Digits.decimal(String(text)), text.utf8.count <= 5, weight <= 1 else { return 0 }
        return Int((weight * 1_000).rounded())
    }
}

extension Substring {
    /// Whether this is the media type of an image in a format, whatever its case.
    fileprivate func isMediaType(of format: OutputFormat) -> Bool {
        let prefix = "image/".utf8
        return utf8.count == prefix.count + format.rawValue.utf8.count
            && zip(utf8, prefix).allSatisfy { $0 | 0x20 == $1 }
            && zip(utf8.dropFirst(prefix.count), format.rawValue.utf8).allSatisfy { $0 | 0x20 == $1 }
    }
}
