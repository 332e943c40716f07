import DarkroomHTTPServer
import DarkroomWeb
import Foundation

@testable import DarkroomCommand

extension Settings {
    /// The settings of these flags (by name), variables and lines of a YAML file.
    static func reading(
        _ flags: [String: String] = [:], environment: [String: String] = [:], file: String? = nil
    ) throws -> Settings {
        var path: String?
        if let file { path = try URL.temporaryFile("darkroom.yaml", file).path }
        let flags = try SettingFlags(flags.map { "--\($0)=\($1)" })
        return try Settings(SettingSources(flags: flags.values, environment: environment, file: path))
    }

    /// The message that such settings are refused with; empty = they are accepted.
    static func refusal(
        _ flags: [String: String] = [:], environment: [String: String] = [:], file: String? = nil
    ) throws -> String {
        do {
            _ = try reading(flags, environment: environment, file: file)
            return ""
        } catch let error as SettingError {
            return error.description
        }
    }

    /// All values, given or by default, for comparison.
    var summary: String { SettingsTable.rows.map { $0.summary(in: values) }.joined(separator: "\n") }
}

extension SettingRow {
    fileprivate func summary(in values: [String: any Sendable]) -> String {
        let value = values[name].flatMap { $0 as? Value } ?? defaultValue
        // Sets have no order of their own.
        if case .listed(let origins)? = value as? CORSPolicy { return "\(name): \(origins.sorted())" }
        return "\(name): \(value)"
    }
}

/// The environment variable of a setting.
func variable(_ name: String) -> String {
    SettingsTable.rows.first { $0.name == name }?.environmentName ?? ""
}

extension URL {
    /// A new file of this text in a folder of its own.
    static func temporaryFile(_ name: String, _ text: String) throws -> URL {
        let url = try temporaryFolder().appendingPathComponent(name)
        try text.write(to: url, atomically: true, encoding: .utf8)
        return url
    }
}
