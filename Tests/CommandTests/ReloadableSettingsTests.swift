import DarkroomNetwork
import DarkroomOrigin
import Foundation
import Testing

@testable import DarkroomCommand

/// Holds `isReloadable` of each setting against what ``SettingsReloader`` applies.
struct ReloadableSettingsTests {
    @Test(arguments: SettingsTable.rows.map(\.name))
    func `A reload applies a setting that is reloadable, and reports any other`(name: String) throws {
        let value = try #require(try Self.values[name] ?? SettingsTests.others[name])
        let companions = Self.companions(of: name)
        let running = try Settings.reading(companions)
        let flags = try SettingFlags(companions.merging([name: value]) { $1 }.map { "--\($0)=\($1)" })
        let (new, unchanged) = try running.reloaded(
            from: SettingSources(flags: flags.values, environment: [:], file: nil))
        guard let row = SettingsTable.rows.first(where: { $0.name == name }), row.isReloadable else {
            #expect(unchanged == [name])
            #expect(Self.applied(new) == Self.applied(running))
            return
        }
        #expect(unchanged.isEmpty)
        // It decides only whether settings are accepted.
        guard name != "open-proxy" else { return }
        #expect(Self.applied(new) != Self.applied(running), "A reload of this setting changes nothing.")
        #expect(Self.appliedAtStart(new) == Self.appliedAtStart(running), "A part of the server keeps the old value.")
    }

    /// What the reloader passes on.
    private static func applied(_ settings: Settings) -> [String] {
        let client = settings.clientSettings
        return texts(
            settings.logging.level, settings.webConfiguration, client.hosts, client.addresses, client.mappedSources,
            client.fields)
    }

    /// What only a start passes on.
    private static func appliedAtStart(_ settings: Settings) -> [String] {
        var client = settings.clientSettings
        (client.hosts, client.addresses) = (HostPolicy(), AddressPolicy())
        (client.mappedSources, client.fields) = (SourceMap(), OriginFields())
        return texts(
            client, settings.pipelineConfiguration, settings.diskConfiguration, settings.workerConfiguration)
    }

    /// Most of these types are not equatable. Sets are written in any order, so the characters are sorted.
    private static func texts(_ values: Any...) -> [String] { values.map { String("\($0)".sorted()) } }

    /// Values that need a file.
    private static var values: [String: String] {
        get throws {
            let pairs = try URL.temporaryFile("pairs", "736563726574:68656C6C6F\n")
            return ["imgproxy-keys-file": pairs.path]
        }
    }

    /// Other settings without which a value has no meaning.
    private static func companions(of name: String) -> [String: String] {
        switch name {
        case "max-output-pixels": ["max-output-side": "1"]
        case "presets-only": ["presets": "avatar=w=96"]
        case "purge-to": ["response-tags": "xkey"]
        case "imgproxy-watermark": ["compat": "imgproxy", "marks": "logo=https://example.com/logo.png"]
        case _ where name.hasPrefix("imgproxy-"): ["compat": "imgproxy"]
        case "thumbor-signature-type", "thumbor-signature-length": ["compat": "thumbor", "thumbor-key": "my-key"]
        case _ where name.hasPrefix("thumbor-"): ["compat": "thumbor"]
        case "compat-base-url": ["compat": "cloudflare"]
        default: [:]
        }
    }
}
