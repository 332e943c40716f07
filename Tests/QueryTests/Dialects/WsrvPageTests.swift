import DarkroomRequests
import DarkroomTransforms
import Foundation
import Testing

@testable import DarkroomQuery

/// Holds the table of `docs/wsrv.md` against the translation.
struct WsrvPageTests {
    private struct Row {
        let name: String
        let there: String
        let here: String
        let isSupported: Bool
    }

    private static let rows: [Row] = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.lastPathComponent != "Tests" { folder.deleteLastPathComponent() }
        let page = folder.deletingLastPathComponent().appendingPathComponent("docs/wsrv.md")
        let lines = ((try? String(contentsOf: page, encoding: .utf8)) ?? "").split(separator: "\n")
        return lines.compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, cells[3].hasPrefix("yes") || cells[3].hasPrefix("no") else { return nil }
            let plain = cells.map { $0.replacing("`", with: "") }
            return Row(name: cells[0], there: plain[1], here: plain[2], isSupported: plain[3].hasPrefix("yes"))
        }
    }()

    @Test func `The page says of each parameter what it means here`() throws {
        #expect(Self.rows.count > 60)
        let grammar = ImageQueryGrammar(dialect: .wsrv)
        for row in Self.rows where row.there != "–" {
            let query = try Dialect.parameters(of: "url=x.org&\(row.there)", standard: .wsrv)
            let ignored = try #require(try grammar.translation(of: query)).ignored
            #expect(ignored.isEmpty == row.isSupported, "\(row.name)")
            let canonical = CanonicalQuery(try grammar.parse(query), limits: grammar.limits).parameters.filter {
                !["url", "rules"].contains($0.name) && $0 != .init(name: "formats", value: "none")
                    && $0 != .init(name: "n", value: "1")
            }
            let here = canonical.map { $0.value.isEmpty ? $0.name : "\($0.name)=\($0.value)" }.joined(separator: "&")
            #expect(here == (row.isSupported ? row.here : ""), "\(row.name)")
        }
    }

    @Test func `Every parameter of the translation is on the page`() {
        let named = Set(Self.rows.flatMap { $0.name.matches(of: /`([a-z]+)/).map { String($0.output.1) } })
        let synonyms: Set = [
            "width", "height", "align", "or", "shape", "strim", "pages", "quality", "lossless", "level",
            "errorredirect", "url", "v", "_",
        ]
        #expect(Set(WsrvTable.names).subtracting(named) == synonyms)
        #expect(Set(WsrvTable.unsupported.keys).subtracting(named).isEmpty)
    }
}
