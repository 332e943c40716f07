import Foundation
import HTTPTypes
import Testing

@testable import DarkroomCommand
@testable import DarkroomDialects
@testable import DarkroomHTTPServer
@testable import DarkroomQuery
@testable import DarkroomWeb

/// A committed file that follows from the tables of the code, as a whole or in parts.
struct GeneratedFile: Sendable, CustomTestStringConvertible {
    /// Relative to the package.
    let path: String
    /// The file that the tables give. What people wrote is kept from the committed file.
    let text: @Sendable (_ committed: String) throws -> String

    var testDescription: String { path }
    var url: URL { Self.package.appendingPathComponent(path) }

    static let package = URL.fixtures.deletingLastPathComponent().deletingLastPathComponent()

    static let all = [
        GeneratedFile(path: "openapi/openapi.yaml") { try GeneratedContract.text(from: $0) },
        GeneratedFile(path: "docs/settings.md") { _ in SettingsReference.page },
        GeneratedFile(path: "docs/parameters.md") {
            try $0.replacingSection("## Parameters of `/image`", with: Self.parameters)
        },
        GeneratedFile(path: "docs/errors.md") { try $0.replacingTable(below: "## Every problem", with: Self.problems) },
        GeneratedFile(path: "docs/thumbor.md") {
            try $0.replacingTable(below: "## Every option", with: OptionReference.markdown(OptionReference.thumbor))
        },
        GeneratedFile(path: "docs/cloudflare.md") {
            try $0.replacingTable(below: "## Every option", with: OptionReference.markdown(OptionReference.cloudflare))
        },
        GeneratedFile(path: "docs/imgproxy.md") {
            try $0.replacingTable(below: "## Options", with: ImgproxyTable.image.reference)
                .replacingTable(below: "## Documents", with: ImgproxyTable.information.reference)
        },
    ]

    private static var parameters: String {
        let image = ImageQueryGrammar().table
        let names = Set(image.parameters.map(\.name))
        let info = ImageQueryGrammar.info().table.section("`/info` only") { !names.contains($0.name) }
        let note = "<!-- make contract writes the tables of this section -->\n"
        let marks = MarkPartDraft.table(QueryLimits()).section("Named images: `mark.NAME.PARAM`") { _ in true }
        let texts = TextPartDraft.table(QueryLimits()).section("Named texts: `text.NAME.PARAM`") { _ in true }
        return [note, image.markdown, marks ?? "", texts ?? "", AccessParameters.table.markdown, info ?? ""].joined(
            separator: "\n")
    }

    private static var problems: String {
        let rows = ProblemKind.all.sorted { $0.status.code < $1.status.code }.map { kind in
            "| \(kind.status.code) | `\(kind.type)` | \(markdown(kind.cause)) | \(markdown(kind.remedy)) |\n"
        }
        return "| Status | Type | Cause | Remedy |\n|---|---|---|---|\n" + rows.joined()
    }

    /// A sentence of a problem, with code where it has quotation marks.
    private static func markdown(_ text: String) -> String {
        text.replacing(/(^|[^A-Za-z])'([^']+)'/) { "\($0.output.1)`\($0.output.2)`" }
    }
}

extension String {
    /// The page with another text below this heading, up to the next heading of the second level.
    fileprivate func replacingSection(_ heading: String, with text: String) throws -> String {
        var lines = components(separatedBy: "\n")
        let start = try #require(lines.firstIndex(of: heading)) + 1
        let end = lines[start...].firstIndex { $0.hasPrefix("## ") } ?? lines.endIndex
        lines.replaceSubrange(start..<end, with: [""] + text.components(separatedBy: "\n"))
        return lines.joined(separator: "\n")
    }

    /// The page with another first table below this heading.
    fileprivate func replacingTable(below heading: String, with table: String) throws -> String {
        var lines = components(separatedBy: "\n")
        let heading = try #require(lines.firstIndex(of: heading))
        let start = try #require(lines[heading...].firstIndex { $0.hasPrefix("|") })
        let end = lines[start...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
        lines.replaceSubrange(start..<end, with: table.split(separator: "\n").map(String.init))
        return lines.joined(separator: "\n")
    }
}
