import DarkroomRequests
import Foundation

/// The format of values of one type in a query: their schema, a reader of text, and a writer of the canonical text.
struct ValueFormat<Value: Sendable>: Sendable {
    let schema: ValueSchema
    /// The value of a parameter without a value (`trim`, or `trim=`); nil = a value is required.
    private(set) var bareValue: Value?
    /// Reads a text that is not empty; nil where it does not fit the schema.
    let read: @Sendable (String) -> Value?
    /// The one spelling of a value: "" for a parameter without a value, nil for a value that cannot be written.
    let write: @Sendable (Value) -> String?

    init(
        _ schema: ValueSchema, write: @escaping @Sendable (Value) -> String?,
        read: @escaping @Sendable (String) -> Value?
    ) {
        self.schema = schema
        self.read = read
        self.write = write
    }

    /// Text in a syntax of its own.
    init(
        pattern: String, expected: String, write: @escaping @Sendable (Value) -> String?,
        read: @escaping @Sendable (String) -> Value?
    ) {
        self.init(.text(pattern: pattern, expected: expected), write: write, read: read)
    }

    /// The same format, where a parameter without a value means this value.
    func bare(_ value: Value) -> ValueFormat {
        var format = self
        format.bareValue = value
        return format
    }

    /// The same texts for values of another type. Where the inverse is nil, the parameter is written without a value.
    func map<Other>(
        _ transform: @escaping @Sendable (Value) -> Other, back: @escaping @Sendable (Other) -> Value?
    ) -> ValueFormat<Other> {
        var format = ValueFormat<Other>(schema) { [write] in
            back($0).map { write($0) } ?? ""
        } read: { [read] in
            read($0).map(transform)
        }
        format.bareValue = bareValue.map(transform)
        return format
    }

    /// The same texts for an effect, which is absent (nil) at the one value that changes no pixel.
    func effect<Effect>(
        offAt neutral: Value, _ effect: @escaping @Sendable (Value) -> Effect,
        back: @escaping @Sendable (Effect) -> Value
    ) -> ValueFormat<Effect?> where Value: Equatable {
        map({ $0 == neutral ? nil : effect($0) }, back: { $0.map(back) ?? neutral })
    }
}

extension ValueFormat where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> ValueFormat {
        ValueFormat(.integer(range), write: { "\($0)" }, read: { Digits.integer($0, in: range) })
    }
}

extension ValueFormat where Value == Double {
    static func number(_ range: ClosedRange<Double>) -> ValueFormat {
        ValueFormat(.number(range), write: ValueSchema.plain) { text in
            Digits.number(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A clockwise angle in whole degrees.
    static var wholeDegrees: ValueFormat {
        ValueFormat<Int>.integer(0...359).map({ Double($0) }, back: { Int(exactly: $0) })
    }
}

extension ValueFormat where Value == Hundredths {
    /// A number with at most two decimals, kept exactly.
    static func hundredths(_ range: ClosedRange<Double>) -> ValueFormat {
        ValueFormat(
            .number(range, decimals: 2), write: { ValueSchema.plain(Double($0.count) / 100) },
            read: { text in
                guard let number = Digits.number(text), range.contains(number) else { return nil }
                let count = (number * 100).rounded()
                // Computed values such as 1.1500000000000001 are off in their last digits.
                return abs(number * 100 - count) < 1e-9 ? Hundredths(count: Int(count)) : nil
            })
    }
}

extension ValueFormat where Value == Bool {
    /// `true` or `1`, `false` or `0`; without a value it means true.
    static var boolean: ValueFormat {
        ValueFormat(.boolean, write: { "\($0)" }) { text in
            switch text {
            case "true", "1": true
            case "false", "0": false
            default: nil
            }
        }.bare(true)
    }
}

extension ValueFormat where Value == String {
    static var url: ValueFormat { ValueFormat(.url, write: \.self, read: \.self) }

    /// Text of a pattern, checked by a predicate that accepts the same texts.
    static func text(
        pattern: String, expected: String, _ isValid: @escaping @Sendable (String) -> Bool
    ) -> ValueFormat {
        ValueFormat(pattern: pattern, expected: expected, write: \.self) { isValid($0) ? $0 : nil }
    }
}

extension ValueFormat where Value: Equatable {
    /// One of several names, in any case. The first name of a value is its canonical spelling. Error sentences leave
    /// aliases out.
    static func choice(_ names: KeyValuePairs<String, Value>, aliases: KeyValuePairs<String, Value> = [:])
        -> ValueFormat
    {
        choice(of: names.map { ($0.key, $0.value) }, aliases: aliases.map { ($0.key, $0.value) })
    }

    /// The same of names that are not literals.
    static func choice(of names: [(String, Value)], aliases: [(String, Value)]) -> ValueFormat {
        let values = Dictionary(names + aliases) { first, _ in first }
        return ValueFormat(.choice(names.map(\.0), aliases: aliases.map(\.0))) { value in
            names.first { $0.1 == value }?.0
        } read: {
            values[$0] ?? values[$0.lowercased()]
        }
    }

    static func choice(_ type: Value.Type) -> ValueFormat
    where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
        ValueFormat(.choice(Value.allCases.map(\.rawValue)), write: \.rawValue) {
            Value(rawValue: $0) ?? Value(rawValue: $0.lowercased())
        }
    }
}

extension ValueFormat where Value: SetAlgebra {
    /// Comma-separated names in any order and case; a name may be repeated. Shorthands stand for several other names;
    /// they are read and never written.
    static func names(of members: [(name: String, value: Value)], shorthands: Set<String> = []) -> ValueFormat {
        let names = members.map(\.name)
        let name = "(\(names.joined(separator: "|")))"
        let expected = "one or more of \(names.listed("and")), separated by commas"
        let values = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
        let written = members.filter { !shorthands.contains($0.name) }
        return ValueFormat(pattern: "^\(name)(,\(name))*$", expected: expected) { value in
            let contained = written.filter { $0.value.isSubset(of: value) }.map(\.name)
            return contained.isEmpty ? nil : contained.joined(separator: ",")
        } read: { text in
            let given = text.split(separator: ",", omittingEmptySubsequences: false)
            let known = given.compactMap { values[$0.lowercased()] }
            return known.count == given.count ? known.reduce(Value()) { $0.union($1) } : nil
        }
    }
}

/// A number with two decimals.
struct Hundredths: Hashable, Sendable {
    /// The number times 100.
    var count: Int

    static let one = Hundredths(count: 100)

    /// The product with an integer, rounded to the nearest integer, half away from zero.
    func times(_ side: Int) -> Int { (side * count + 50) / 100 }
}

/// The syntax of a parameter's values as data, for error sentences, the reference page and the contract test.
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

    /// The pattern of a color within other texts.
    static let colorPattern = "(#?([0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})|[A-Za-z]{3,20})"

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
