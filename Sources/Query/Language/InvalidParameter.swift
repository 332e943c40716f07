package import DarkroomNetwork

/// A query that was refused: the parameter at fault and a sentence that says what to write instead.
package struct InvalidParameter: Error, Hashable {
    /// The parameter as the client spelled it, clipped to 100 characters; nil where the query names none.
    package let parameter: String?
    /// One or two sentences for the client.
    package let detail: String

    package init(_ parameter: String?, _ detail: String) {
        self.parameter = parameter.map(Self.clipped)
        self.detail = detail
    }

    /// A value outside its format, as received; nil or empty for a name without a value. What is expected completes
    /// "must be …"; a hint is a sentence after a space.
    init(_ parameter: String, got value: String?, expected: String, hint: String = "") {
        let given = value.flatMap { $0.isEmpty ? nil : "'\(Self.clipped($0))'" } ?? "no value"
        self.init(parameter, "Parameter '\(parameter)' must be \(expected), got \(given).\(hint)")
    }

    /// A parameter that appears more than once: readers of the first and of the last would see different requests.
    init(repeated name: String) {
        self.init(name, "Parameter '\(Self.clipped(name))' must be given only once.")
    }

    /// A name that the endpoint does not have.
    ///
    /// - Parameter url: The source URL before it; nil if there is none. An unencoded URL ends at its first `&`, so the
    ///   parameter may be the rest of it. A URL without a query seldom is, if the name is near a known one.
    init(unknown name: String, known: [String], after url: String? = nil) {
        var hint = NameSuggestions.sentence(for: name, among: known)
        if name.lowercased().hasPrefix("amp;") {
            hint = " Separate parameters by '&': its escape '&amp;' is for HTML."
        } else if let url, hint.isEmpty || url.contains("?") {
            hint +=
                " If it belongs to the source's URL, percent-encode the value of 'url', with %26 for each & in it."
        }
        self.init(name, "There is no parameter '\(Self.clipped(name))'.\(hint)")
    }

    /// The text up to its first 100 Unicode scalars: a client's own text is never echoed at full length. One character
    /// may have thousands of combining marks.
    package static func clipped(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: 100, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "…"
    }
}

/// Throws an error of a parameter unless a condition holds.
package func require(
    _ condition: Bool, _ parameter: @autoclosure () -> String, _ detail: @autoclosure () -> String
) throws(InvalidParameter) {
    guard condition else { throw InvalidParameter(parameter(), detail()) }
}

extension PercentEncoding {
    /// The decoded text, or an error of a parameter with a sentence that begins with the subject.
    package static func decode(
        _ text: Substring.UTF8View, _ parameter: String, _ subject: @autoclosure () -> String
    ) throws(InvalidParameter) -> String {
        if let decoded = decode(text) { return decoded }
        throw InvalidParameter(
            parameter, "\(subject()) is not valid percent-encoded UTF-8; write a literal % as %25.")
    }
}
