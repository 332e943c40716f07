import Foundation

/// What the values of a parameter look like, as data: error sentences, the reference page and the contract test read
/// it.
package enum ValueSchema: Hashable, Sendable {
    /// An absolute URL. Parsed later, when the request is resolved.
    case url
    case integer(ClosedRange<Int>)
    /// A non-negative JSON number with at most `decimals` digits after the point; nil = any number of digits.
    case number(ClosedRange<Double>, decimals: Int? = nil)
    /// `true` or `1`, `false` or `0`.
    case boolean
    /// One of several names. Aliases are further spellings of the same values.
    case choice([String], aliases: [String] = [])
    /// An integer for pixels, or a percentage with at most two decimals, such as `50p` or `50%`.
    case length(ClosedRange<Int>, percent: ClosedRange<Double>)
    /// An sRGB color.
    case color
    /// Text in a syntax of its own: an ECMA-262 pattern that it matches, and a phrase that describes it.
    case text(pattern: String, expected: String)

    /// A phrase for the allowed values, which completes "must be …".
    package var expected: String {
        switch self {
        case .url: "an absolute http, https, s3 or local URL, percent-encoded"
        case .integer(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range, let decimals):
            "a number from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
                + (decimals.map { " with at most \($0) decimals" } ?? "")
        case .boolean: "true, false, 1 or 0"
        case .choice(let names, _): names.count == 1 ? names.joined() : "one of \(names.joined(separator: ", "))"
        case .length(let range, let percent):
            "an integer from \(range.lowerBound) to \(range.upperBound), or a percentage from "
                + "\(Self.plain(percent.lowerBound))p to \(Self.plain(percent.upperBound))p"
        case .color: "a color as rgb, rgba, rrggbb or rrggbbaa in hexadecimal, or a CSS color name"
        case .text(_, let expected): expected
        }
    }

    /// A number without an exponent, and without a fraction where it is whole.
    static func plain(_ number: Double) -> String {
        Decimal(string: "\(number)").map { "\($0)" } ?? "\(number)"
    }
}
