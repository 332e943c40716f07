import DarkroomNetwork
import DarkroomRequests

/// The weights and the reasons of formats that `Accept` decides.
package enum FormatNegotiation {
    /// Why a response has its format, which may be one of a list, in one sentence.
    package static func reason(for query: ImageQuery, accept: String?, of list: FormatList) -> String {
        guard query.isNegotiated else { return "The parameter 'output' asks for it." }
        let names = { (list: FormatList) in list.formats.map(\.mediaType).joined(separator: ", ") }
        let accepted = AcceptField(accept).named(of: list)
        guard accepted.isEmpty else { return "Accept names \(names(accepted))." }
        let cause =
            if query.formats?.isEmpty == true {
                "The request lists no formats"
            } else if list.isEmpty {
                "This server has no encoder for the formats of the list"
            } else {
                "Accept does not name \(names(list))"
            }
        return "\(cause), so it is the source's own format, or JPEG or PNG where Accept does not cover that."
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
