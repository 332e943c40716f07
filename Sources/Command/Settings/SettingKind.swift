import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomQuery

/// The grammar and bounds of a setting's values.
struct SettingKind<Value: Sendable>: Sendable {
    /// The value in `--help`, such as `BYTES`.
    let placeholder: String
    /// The accepted values, with an article, as in "must be an integer from 0 to 65535".
    let grammar: String
    /// The value as users write it.
    let format: @Sendable (Value) -> String
    let parse: @Sendable (SettingValue) throws(SettingRefusal) -> Value

    /// A kind with several forms in YAML, such as lists and maps.
    init(
        _ placeholder: String, _ grammar: String, format: @escaping @Sendable (Value) -> String,
        parseValue: @escaping @Sendable (SettingValue) throws(SettingRefusal) -> Value
    ) {
        self.placeholder = placeholder
        self.grammar = grammar
        self.format = format
        parse = parseValue
    }

    /// A kind of scalar.
    /// - Parameter parse: returns nil where the text does not follow the grammar.
    init(
        _ placeholder: String, _ grammar: String, format: @escaping @Sendable (Value) -> String,
        parse: @escaping @Sendable (String) -> Value?
    ) {
        self.init(placeholder, grammar, format: format) { value throws(SettingRefusal) in
            guard let text = value.text, let parsed = parse(text) else {
                throw .expected(grammar, got: value.text ?? value.shape)
            }
            return parsed
        }
    }

    /// Reads the text of an option or a file, which errors name.
    func read(_ text: String, of spelling: String, isSecret: Bool = false) throws(SettingError) -> Value {
        do throws(SettingRefusal) { return try parse(.text(text)) } catch {
            throw SettingError(error.sentence(about: spelling, isSecret: isSecret))
        }
    }

    /// No value by default.
    static func optional<Wrapped>(_ kind: SettingKind<Wrapped>) -> SettingKind where Value == Wrapped? {
        SettingKind(kind.placeholder, kind.grammar) { value in
            value.map(kind.format) ?? "none"
        } parseValue: { value throws(SettingRefusal) in
            try kind.parse(value)
        }
    }

    /// A kind of lists.
    /// - Parameter text: a member as users write it.
    init<Member>(
        _ placeholder: String, _ grammar: String, members text: @escaping @Sendable (Member) -> String,
        parseValue: @escaping @Sendable (SettingValue) throws(SettingRefusal) -> Value
    ) where Value == [Member] {
        let format = { @Sendable (members: Value) in members.isEmpty ? "none" : members.map(text).joined(separator: ",")
        }
        self.init(placeholder, grammar, format: format, parseValue: parseValue)
    }

    /// Comma-separated members, or a YAML list.
    static func list<Member>(of kind: SettingKind<Member>) -> SettingKind where Value == [Member] {
        SettingKind("\(kind.placeholder),...", "a list, each member \(kind.grammar)", members: kind.format) {
            value throws(SettingRefusal) in try value.members.map(kind.parse)
        }
    }

    /// How a list of secrets is shown.
    static func masked<Member>(_ value: Value) -> String where Value == [Member] { value.isEmpty ? "none" : "set" }

    /// A word of an enumeration.
    static func choice(of type: Value.Type) -> SettingKind where Value: CaseIterable & RawRepresentable<String> {
        let words = Value.allCases.map(\.rawValue)
        return SettingKind(
            words.joined(separator: "|"), "one of \(words.joined(separator: ", "))", format: \.rawValue
        ) { Value(rawValue: $0) }
    }
}

extension SettingKind where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> SettingKind {
        SettingKind("N", "an integer from \(range.lowerBound) to \(range.upperBound)", format: \.description) {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Plain bytes, or a number with `B`, `KiB`, `MiB` or `GiB`.
    static func bytes(atLeast minimum: Int) -> SettingKind {
        let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)]
        let bound = minimum == 0 ? "" : ", at least \(written(minimum, in: units)),"
        let grammar = "a number of bytes\(bound) such as 1048576, 512KiB or 10GiB"
        return SettingKind("BYTES", grammar) {
            written($0, in: units)
        } parse: { text in
            let (digits, unit) = numberAndUnit(text)
            guard let number = Int(digits), let factor = unit.isEmpty ? 1 : units.first(where: { $0.0 == unit })?.1
            else { return nil }
            let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
            return overflow || bytes < minimum ? nil : bytes
        }
    }
}

extension SettingKind where Value == Duration {
    /// A number with `ms`, `s`, `m`, `h` or `d`, up to ten years; 0 needs no unit.
    static func duration(allowsZero: Bool = false) -> SettingKind {
        let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)]
        let grammar = "\(allowsZero ? "0 or a duration" : "a duration above 0") such as 500ms, 15s, 5m, 12h or 7d"
        return SettingKind("DURATION", grammar) {
            $0 == .zero ? "0s" : written(Int($0 / .milliseconds(1)), in: units)
        } parse: { text in
            let (digits, unit) = numberAndUnit(text)
            guard let number = Int(digits) else { return nil }
            if number == 0, allowsZero, unit.isEmpty || units.contains(where: { $0.0 == unit }) { return .zero }
            guard let factor = units.first(where: { $0.0 == unit })?.1, number > 0,
                number <= 3650 * 86_400_000 / factor
            else { return nil }
            return .milliseconds(number * factor)
        }
    }
}

extension SettingKind where Value == Bool {
    /// `true`, `false`, `1` or `0`; in YAML also an unquoted `yes`, `no`, `on` or `off`.
    static var boolean: SettingKind {
        let grammar = "true or false"
        return SettingKind("true|false", grammar, format: \.description) { value throws(SettingRefusal) in
            switch value {
            case .boolean(let value, _): return value
            case .text("true"), .text("1"): return true
            case .text("false"), .text("0"): return false
            default: throw .expected(grammar, got: value.text ?? value.shape)
            }
        }
    }
}

extension SettingKind where Value == String {
    /// Any text but an empty one.
    static func text(_ placeholder: String, _ grammar: String) -> SettingKind {
        SettingKind(placeholder, grammar, format: \.self) { $0.isEmpty ? nil : $0 }
    }

    /// The name of a parameter that no endpoint has, or the beginning of such names with `*` at the end.
    static var ignoredParameter: SettingKind {
        let grammar = "a name of letters, digits, '-', '.' and '_', or the beginning of a name with * at the end"
        return SettingKind("NAME", grammar, format: \.self) { value throws(SettingRefusal) in
            guard let text = value.text, text.wholeMatch(of: /[A-Za-z0-9._-]+\*?/) != nil else {
                throw .expected(grammar, got: value.text ?? value.shape)
            }
            let ignored = IgnoredParameters([text])
            if let name = ParameterNames.all.first(where: { ignored.contains($0[...]) }) {
                throw .because("'\(text)' would remove the parameter '\(name)' of this server.")
            }
            return text
        }
    }

    /// Nothing, or segments of letters, digits and `-._~` behind a slash each; a slash at the end is dropped.
    static var basePath: SettingKind {
        SettingKind("PATH", "a path such as /images, of letters, digits, '-', '.', '_' and '~'") {
            $0.isEmpty ? "none" : $0
        } parse: { text in
            let path = text.hasSuffix("/") ? String(text.dropLast()) : text
            let segments = path.split(separator: "/", omittingEmptySubsequences: false)
            guard text == "/" || segments.count > 1 && segments[0].isEmpty else { return nil }
            let isPlain = segments.dropFirst().allSatisfy { segment in
                !segment.isEmpty && segment != "." && segment != ".."
                    && segment.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-._~".utf8.contains($0) }
            }
            return isPlain ? path : nil
        }
    }

    /// The path of a Unix socket, whose length the kernel limits (unix(7)).
    static var socketPath: SettingKind {
        SettingKind("PATH", "the path of a socket, of at most 103 bytes", format: \.self) {
            (1...103).contains($0.utf8.count) ? $0 : nil
        }
    }

    /// A token that clients can send as a bearer token (RFC 6750 §2.1) and that is too long to guess.
    static var token: SettingKind {
        SettingKind("TOKEN", "at least 16 printable ASCII characters without spaces") { _ in
            "set"
        } parse: { text in
            text.utf8.count >= 16 && text.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? text : nil
        }
    }

    /// An absolute http or https URL without user, query and fragment; its canonical form ends without a slash.
    static var webURL: SettingKind {
        SettingKind("URL", "an absolute http or https URL without user, query or fragment", format: \.self) { text in
            guard !text.contains(where: { "?#@".contains($0) }), let url = try? SourceURL(parsing: text),
                url.scheme.isWeb
            else { return nil }
            return String(url.canonical.reversed().drop { $0 == "/" }.reversed())
        }
    }

    /// A pattern of hosts, in canonical spelling.
    static var hostGlob: SettingKind {
        SettingKind("GLOB", HostPattern.grammar, format: \.self) { value throws(SettingRefusal) in
            guard let text = value.text else { throw .expected(HostPattern.grammar, got: value.shape) }
            return try HostPattern(setting: text, grammar: HostPattern.grammar).text
        }
    }
}

extension SettingKind where Value == String {
    /// A pattern of hosts, or of buckets as `s3://NAME`, in canonical spelling.
    static var sourceGlob: SettingKind {
        let grammar = "\(HostPattern.grammar), or s3:// and a bucket's name"
        return SettingKind("GLOB", grammar, format: \.self) { value throws(SettingRefusal) in
            guard let text = value.text else { throw .expected(grammar, got: value.shape) }
            if let bucket = HostPattern.ofBucket(text) { return bucket }
            return try HostPattern(setting: text, grammar: grammar).text
        }
    }
}

extension SettingKind where Value == CIDR {
    static var network: SettingKind {
        let grammar = "a network in CIDR notation such as 10.0.0.0/8"
        return SettingKind("CIDR", grammar, format: \.description) { value throws(SettingRefusal) in
            guard let text = value.text else { throw .expected(grammar, got: value.shape) }
            do { return try CIDR(parsing: text) } catch { throw .because("\(error)") }
        }
    }
}

extension SettingKind where Value == Rate {
    static var rate: SettingKind {
        SettingKind("RATE", "a rate of 1 to 1000000 such as 20/s, 600/m or 1000/h", format: \.text) { Rate($0) }
    }
}

extension HostPattern {
    static let grammar = "a host name without scheme, port and path, with * and ? as wildcards"

    /// A pattern of buckets in canonical spelling; nil if it does not begin with `s3://`, or has other characters.
    static func ofBucket(_ text: String) -> String? {
        text.lowercased().wholeMatch(of: /s3:\/\/[a-z0-9._*?-]+/).map { String($0.0) }
    }

    /// Throws a refusal that repeats the text and shows the right form.
    init(setting text: String, grammar: String) throws(SettingRefusal) {
        do throws(Flaw) { try self.init(parsing: text) } catch {
            switch error {
            case .matchesNothing(let suggestion?): throw .corrected(grammar, got: text, "write '\(suggestion)'")
            case .matchesNothing(nil): throw .expected(grammar, got: text)
            case .network: throw .corrected(grammar, got: text, "networks belong in allow-networks")
            }
        }
    }
}

private func numberAndUnit(_ text: String) -> (digits: String, unit: String) {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    return (String(digits), String(text[digits.endIndex...]))
}

/// The number in the largest unit that divides it.
private func written(_ number: Int, in units: [(name: String, factor: Int)]) -> String {
    let unit = units.first { number % $0.factor == 0 && number != 0 }
    return unit.map { "\(number / $0.factor)\($0.name)" } ?? "\(number)"
}
