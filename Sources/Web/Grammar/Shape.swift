import Foundation

/// What values of a parameter look like, as data: the contract in `openapi.yaml` is tested against it.
enum Shape: Hashable, Sendable {
    /// An absolute URL, checked later on.
    case url
    case integer(ClosedRange<Int>)
    /// A number as JSON has it, never negative; with at most `decimals` digits after the point, nil = any number of them.
    case number(ClosedRange<Double>, decimals: Int? = nil)
    /// `true` or `1`, `false` or `0`.
    case boolean
    /// One of a list; further spellings mean one of that list too.
    case choice([String], aliases: [String] = [])
    /// An sRGB colour.
    case color
    /// A text of a form that only words describe, and a pattern that it matches (ECMA-262).
    case text(pattern: String, allowed: String)

    /// What may be given, as the end of "allowed is …".
    var allowed: String {
        switch self {
        case .url: "an absolute http, https or local URL, percent-encoded"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range, let decimals):
            "a number from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
                + (decimals.map { " with at most \($0) decimals" } ?? "")
        case .boolean: "true, false, 1 or 0"
        case .choice(let names, _): "one of \(names.joined(separator: ", "))"
        case .color: "a colour as rgb, rgba, rrggbb or rrggbbaa in hexadecimal, or a CSS colour name"
        case .text(_, let allowed): allowed
        }
    }

    /// Without an exponent, and whole numbers without a fraction.
    static func plain(_ number: Double) -> String {
        Decimal(string: "\(number)").map { "\($0)" } ?? "\(number)"
    }
}
