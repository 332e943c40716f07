/// One setting of the server: a row of ``SettingsTable``.
///
/// Flags, environment variables, YAML keys, `--help`, `docs/settings.md` and spelling suggestions come from this row.
struct Setting<Value: Sendable>: SettingRow {
    let name: String
    let help: String
    let isSecret: Bool
    let isReloadable: Bool
    let defaultText: String
    let defaultValue: Value
    private let kind: SettingKind<Value>

    /// - Parameter defaultText: the default in words, where the value depends on the machine.
    init(
        _ name: String, _ kind: SettingKind<Value>, default defaultValue: Value, shownAs defaultText: String? = nil,
        isSecret: Bool = false, isReloadable: Bool = false, help: String
    ) {
        self.name = name
        self.kind = kind
        self.defaultValue = defaultValue
        self.defaultText = defaultText ?? kind.format(defaultValue)
        self.isSecret = isSecret
        self.isReloadable = isReloadable
        self.help = help
    }

    var placeholder: String { kind.placeholder }
    var grammar: String { kind.grammar }

    /// A value as users write it.
    func text(of value: Value) -> String { kind.format(value) }

    func read(_ given: GivenSetting) throws(SettingError) -> any Sendable {
        if case .null = given.value {
            throw SettingError("\(given.spelling) has no value; remove the line or add a value.")
        }
        do throws(SettingRefusal) {
            return try kind.parse(given.value)
        } catch {
            let reason = error.sentence(about: "", isSecret: isSecret)
            throw SettingError(error.sentence(about: given.spelling(for: reason), isSecret: isSecret))
        }
    }
}

/// A ``Setting`` of any value type.
protocol SettingRow: Sendable {
    associatedtype Value: Sendable

    /// The key in YAML, such as `max-source-bytes`; flag and environment variable derive from it.
    var name: String { get }
    /// The effect of the setting, in full sentences.
    var help: String { get }
    /// Whether error messages must not repeat the value.
    var isSecret: Bool { get }
    /// Whether a running server can take another value; see ``Settings/reloaded(from:)``.
    var isReloadable: Bool { get }
    /// The value if no source has the setting.
    var defaultValue: Value { get }
    /// The default as users write it; `none` for no value.
    var defaultText: String { get }
    var placeholder: String { get }
    var grammar: String { get }

    /// The value as users write it; `none` for no value, `set` for a secret.
    func text(in values: [String: any Sendable]) -> String
    /// The Swift value of a given setting.
    func read(_ given: GivenSetting) throws(SettingError) -> any Sendable
}

extension SettingRow {
    /// `--max-source-bytes`
    var flag: String { "--\(name)" }
    /// `DARKROOM_MAX_SOURCE_BYTES`
    var environmentName: String {
        SettingSources.environmentPrefix + name.uppercased().split(separator: "-").joined(separator: "_")
    }
}

/// What stops startup.
struct SettingMistake: Equatable, Sendable {
    enum Cause: Sendable {
        /// The settings, which stay wrong until they are changed.
        case settings
        /// The machine: it lacks a file or folder that a setting names, and may have it at the next start.
        case machine
    }

    /// The key as the user spelled it, the reason and the accepted values.
    let sentence: String
    var cause = Cause.settings
}

/// Settings that stop startup, with at least one mistake.
struct SettingError: Error, Equatable, CustomStringConvertible {
    let mistakes: [SettingMistake]

    init(_ sentence: String, cause: SettingMistake.Cause = .settings) {
        mistakes = [SettingMistake(sentence: sentence, cause: cause)]
    }

    fileprivate init(_ mistakes: [SettingMistake]) { self.mistakes = mistakes }

    var description: String { mistakes.map(\.sentence).joined(separator: "\n") }
}

/// The mistakes found so far, so that all are reported at once.
struct SettingMistakes: Sendable {
    private(set) var all: [SettingMistake] = []

    mutating func add(_ sentence: String, cause: SettingMistake.Cause = .settings) {
        add(SettingMistake(sentence: sentence, cause: cause))
    }

    mutating func add(_ mistake: SettingMistake) { all.append(mistake) }

    /// The result of a check; nil if it found mistakes, which are added.
    @discardableResult
    mutating func collect<Value>(_ check: () throws(SettingError) -> Value) -> Value? {
        do throws(SettingError) {
            return try check()
        } catch {
            all += error.mistakes
            return nil
        }
    }

    /// Throws if there are any.
    func report() throws(SettingError) {
        if !all.isEmpty { throw SettingError(all) }
    }
}

/// Why a kind of setting does not accept a value.
enum SettingRefusal: Error {
    /// The value does not follow the grammar.
    case expected(String, got: String?)
    /// As `expected`, with the remedy for this value.
    case corrected(String, got: String, String)
    /// A specific reason, without the value if it is a secret.
    case because(String)
    /// A reason that begins with the place within the value, such as `[0].hosts`.
    case inside(String)

    func sentence(about spelling: String, isSecret: Bool) -> String {
        switch self {
        case .expected(let grammar, let given?) where !isSecret:
            "\(spelling) must be \(grammar), got '\(given.prefix(100))'."
        case .corrected(let grammar, let given, let remedy) where !isSecret:
            "\(spelling) must be \(grammar), got '\(given.prefix(100))'; \(remedy)."
        case .expected(let grammar, _), .corrected(let grammar, _, _): "\(spelling) must be \(grammar)."
        case .because(let reason): "\(spelling): \(reason)"
        case .inside(let reason): "\(spelling)\(reason)"
        }
    }
}
