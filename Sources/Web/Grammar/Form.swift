import DarkroomTransforms

/// How values of one type are written: their shape, what the bare name means, and the way from text to value.
struct Form<Value: Sendable>: Sendable {
    let shape: Shape
    /// The value of the bare name (`trim`, or `trim=`); nil = a value has to follow.
    var bare: Value?
    /// Nil for a text that is not of the shape.
    let read: @Sendable (String) -> Value?

    init(_ shape: Shape, read: @escaping @Sendable (String) -> Value?) {
        self.shape = shape
        self.read = read
    }

    /// The same form, with a meaning for the bare name.
    func bare(_ value: Value) -> Form {
        var form = self
        form.bare = value
        return form
    }
}

extension Form where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> Form {
        Form(.integer(range)) { text in Digits.integer(text).flatMap { range.contains($0) ? $0 : nil } }
    }
}

extension Form where Value == Double {
    static func number(_ range: ClosedRange<Double>) -> Form {
        Form(.number(range)) { text in Digits.number(text).flatMap { range.contains($0) ? $0 : nil } }
    }
}

extension Form where Value == Hundredths {
    /// At most two decimals, kept exact.
    static func hundredths(_ range: ClosedRange<Double>) -> Form {
        Form(.number(range, decimals: 2)) { text in
            guard let number = Digits.number(text), range.contains(number) else { return nil }
            let count = (number * 100).rounded()
            // What programs get by computing may be off in its last digits.
            return abs(number * 100 - count) < 1e-9 ? Hundredths(count: Int(count)) : nil
        }
    }
}

extension Form where Value == Bool {
    /// The bare name means true.
    static var boolean: Form {
        Form(.boolean) { text in
            switch text {
            case "true", "1": true
            case "false", "0": false
            default: nil
            }
        }.bare(true)
    }
}

extension Form where Value == Color {
    static var color: Form { Form(.color) { Color(parsing: $0) } }
}

extension Form {
    /// One of a list of names, each with its value; of the names, those after `count` are aliases.
    static func choice(_ names: KeyValuePairs<String, Value>, aliases: KeyValuePairs<String, Value> = [:]) -> Form {
        let values = Dictionary(names.map { $0 } + aliases.map { $0 }) { first, _ in first }
        return Form(.choice(names.map(\.key), aliases: aliases.map(\.key))) { values[$0] }
    }

    static func choice(_ type: Value.Type) -> Form
    where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
        Form(.choice(Value.allCases.map(\.rawValue))) { Value(rawValue: $0) }
    }
}

extension Form where Value: SetAlgebra {
    /// Names with commas between them, each with its value; their order does not matter, and twice the same is once.
    static func names(of members: [(String, Value)]) -> Form {
        let names = members.map(\.0)
        let name = "(\(names.joined(separator: "|")))"
        let allowed =
            "one or more of \(names.dropLast().joined(separator: ", ")) and \(names.last ?? ""), with commas between them"
        let values = Dictionary(members) { first, _ in first }
        return Form(.text(pattern: "^\(name)(,\(name))*$", allowed: allowed)) { text in
            let given = text.split(separator: ",", omittingEmptySubsequences: false)
            let known = given.compactMap { values[String($0)] }
            return known.count == given.count ? known.reduce(Value()) { $0.union($1) } : nil
        }
    }
}

/// A number with two decimals.
struct Hundredths: Hashable, Sendable {
    var count: Int

    static let one = Hundredths(count: 100)

    /// The product, rounded to the nearest whole number, half away from zero.
    func times(_ side: Int) -> Int { (side * count + 50) / 100 }
}
