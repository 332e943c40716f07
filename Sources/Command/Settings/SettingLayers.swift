import Configuration
import Foundation
import SystemPackage
import Yams

/// The places a setting can come from, in the order in which they are asked: flag, environment, file. Defaults come last.
///
/// Values are read by swift-configuration. It does not tell unknown keys from known ones, so each layer lists its own.
struct SettingLayers {
    private struct Layer {
        let reader: ConfigReader
        let keys: Set<String>
        let spelling: (SettingKey) -> String
    }

    private let layers: [Layer]

    /// - Parameters:
    ///   - flags: values by key name.
    ///   - environment: all variables of the process.
    ///   - file: path of a YAML file; nil = none.
    init(flags: [SettingKey: String], environment: [String: String], file: String?) async throws(SettingError) {
        var layers = [Self.flags(flags), try Self.environment(environment)]
        if let file { layers.append(try await Self.file(file)) }
        self.layers = layers
    }

    /// The text of a setting from the first place that has it, else its default; nil where there is none.
    func text(_ key: SettingKey) throws(SettingError) -> SettingText? {
        guard let layer = layers.first(where: { $0.keys.contains(key.name) }) else {
            return key.standard.isEmpty ? nil : SettingText(spelling: key.name, text: key.standard)
        }
        do {
            return SettingText(
                spelling: layer.spelling(key), text: try layer.reader.requiredString(forKey: ConfigKey(key.name)))
        } catch {
            throw SettingError("\(layer.spelling(key)): one value is expected here.")
        }
    }

    /// The members of a list, given with commas or as a YAML sequence. An empty text is an empty list.
    func list(_ key: SettingKey) throws(SettingError) -> [SettingText] {
        if let layer = layers.first(where: { $0.keys.contains(key.name) }),
            (try? layer.reader.requiredString(forKey: ConfigKey(key.name))) == nil,
            let members = try? layer.reader.requiredStringArray(forKey: ConfigKey(key.name))
        {
            return members.map { SettingText(spelling: layer.spelling(key), text: $0) }
        }
        guard let whole = try text(key) else { return [] }
        return whole.text.split(separator: ",").map {
            SettingText(spelling: whole.spelling, text: $0.trimmingCharacters(in: .whitespaces))
        }
    }

    /// How whoever set the key spelled it; its plain name where nobody did.
    func spelling(_ key: SettingKey) -> String {
        layers.first { $0.keys.contains(key.name) }?.spelling(key) ?? key.name
    }

    private static func flags(_ flags: [SettingKey: String]) -> Layer {
        let values = flags.map { (AbsoluteConfigKey([$0.name]), ConfigValue(.string($1), isSecret: false)) }
        return Layer(
            reader: ConfigReader(provider: InMemoryProvider(values: Dictionary(uniqueKeysWithValues: values))),
            keys: Set(flags.keys.map(\.name)), spelling: \.flag)
    }

    private static func environment(_ environment: [String: String]) throws(SettingError) -> Layer {
        let prefix = "DARKROOM_"
        let known = Dictionary(uniqueKeysWithValues: SettingKey.allCases.map { ($0.environmentName, $0.name) })
        var own: [String: String] = [:]
        var keys: Set<String> = []
        for (name, value) in environment where name.hasPrefix(prefix) {
            guard let key = known[name] else {
                throw unknown(name, among: Array(known.keys))
            }
            own[String(name.dropFirst(prefix.count))] = value
            keys.insert(key)
        }
        return Layer(
            reader: ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: own)), keys: keys,
            spelling: \.environmentName)
    }

    private static func file(_ path: String) async throws(SettingError) -> Layer {
        let names = SettingKey.allCases.map(\.name)
        let reader: ConfigReader
        let keys: [String]
        do {
            let root = try Yams.compose(yaml: try String(contentsOfFile: path, encoding: .utf8))
            keys = root?.mapping?.keys.compactMap(\.string) ?? []
            // A file of comments alone has no root, and no settings.
            reader =
                root == nil
                ? ConfigReader(provider: InMemoryProvider(values: [:]))
                : ConfigReader(provider: try await FileProvider<YAMLSnapshot>(filePath: FilePath(path)))
        } catch {
            throw SettingError("--config: \(path) cannot be read as a YAML file of settings.")
        }
        for key in keys where !names.contains(key) { throw unknown("\(key):", among: names.map { "\($0):" }) }
        return Layer(
            reader: reader, keys: Set(keys), spelling: { "\(path): \($0.name)" })
    }

    private static func unknown(_ name: String, among known: [String]) -> SettingError {
        SettingError("\(name) is no setting; allowed are \(known.sorted().joined(separator: ", ")).")
    }
}
