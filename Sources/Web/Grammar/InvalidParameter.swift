/// A query that means nothing: which parameter is at fault, and what to write instead.
struct InvalidParameter: Error, Hashable {
    /// The parameter as the client spelled it, clipped; nil where none can be named.
    let parameter: String?
    /// One sentence or two for the client.
    let detail: String

    init(_ parameter: String?, _ detail: String) {
        self.parameter = parameter.map(Self.clipped)
        self.detail = detail
    }

    /// A value that is not among those allowed.
    init(_ parameter: String, given value: String?, allowed: String) {
        let given = value.map { "given as '\(Self.clipped($0))'" } ?? "given without a value"
        self.init(parameter, "The parameter '\(parameter)' was \(given); allowed is \(allowed).")
    }

    /// Foreign text is repeated up to its first 100 characters.
    static func clipped(_ text: String) -> String {
        guard let end = text.index(text.startIndex, offsetBy: 100, limitedBy: text.endIndex), end < text.endIndex else {
            return text
        }
        return text[..<end] + "…"
    }
}
