import DarkroomQuery
import DarkroomWeb
import Foundation
import Testing

@testable import DarkroomCommand

/// What is rendered from the table of settings.
struct SettingsReferenceTests {
    @Test func `Help and page list every setting once, by theme`() {
        for theme in SettingsTable.themes {
            #expect(SettingsReference.help.contains("\(theme.title.uppercased()):\n"))
            #expect(SettingsReference.page.contains("\n## \(theme.title)\n"))
        }
        for row in SettingsTable.rows {
            #expect(SettingsReference.help.components(separatedBy: "  \(row.flag) ").count == 2, "\(row.name)")
            #expect(SettingsReference.page.components(separatedBy: "| `\(row.name)` |").count == 2, "\(row.name)")
        }
        #expect(Set(SettingsTable.rows.map(\.name)).count == SettingsTable.rows.count)
        #expect(SettingsTable.rows.count == 105)
    }

    @Test func `Lines of help fit a terminal of 80 columns`() {
        #expect(SettingsReference.help.split(separator: "\n").allSatisfy { $0.count < 80 })
    }

    @Test func `No bound is a number that only computers use`() throws {
        let refusals = try SettingsTable.rows.map { try Settings.refusal([$0.name: "?"]) }
        let texts = [SettingsReference.help, SettingsReference.page] + refusals + SettingsTable.rows.map(\.grammar)
        for text in texts { #expect(text.firstMatch(of: /[0-9]{12}/) == nil, "\(text)") }
    }

    @Test func `The file on the page is a valid file of settings`() throws {
        let settings = try Settings.reading(file: SettingsReference.exampleFile)
        #expect(settings.accessRules.presets.names == ["avatar", "hero"])
        #expect(settings.accessRules.signingKeys.map(\.id) == ["web", "partner"])
        #expect(settings.limits.maxSourceBytes == 20 << 20)
    }

    /// A default that depends on the machine has no spelling of its own.
    @Test func `Every default can be given as a flag and changes nothing`() throws {
        let byDefault = try Settings.reading().summary
        for row in SettingsTable.rows where row.defaultText != "none" && !row.defaultText.contains(" ") {
            #expect(try Settings.reading([row.name: row.defaultText]).summary == byDefault, "\(row.name)")
        }
    }
}
