import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore
import Testing

@testable import DarkroomQuery

/// The cases of weserv's own tests: which size comes of a query. Skipped where they are not at hand.
struct WsrvCorpusTests {
    private struct Case: Decodable {
        struct Size: Decodable {
            var w: Int?
            var h: Int?
        }
        var id: String
        var input: String
        var raw: String?
        var expect: Size
    }

    /// The folder that `DARKROOM_CORPUS` names, or the one beside the package.
    static let corpus: URL? = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.lastPathComponent != "Tests" { folder.deleteLastPathComponent() }
        let beside = folder.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("shared/corpus")
        let named = ProcessInfo.processInfo.environment["DARKROOM_CORPUS"].map { URL(fileURLWithPath: $0) }
        let corpus = named ?? beside
        let cases = corpus.appendingPathComponent("cases/resize-cases.jsonl").path
        return FileManager.default.fileExists(atPath: cases) ? corpus : nil
    }()

    @Test(.enabled(if: corpus != nil))
    func `Each query gives the size that weserv gives`() throws {
        let corpus = try #require(Self.corpus)
        let text = try String(contentsOf: corpus.appendingPathComponent("cases/resize-cases.jsonl"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.contains("\"suite\": \"weserv\"") }
        let cases = try rows.map { try JSONDecoder().decode(Case.self, from: Data($0.utf8)) }
            // PDF is no format of Darkroom's.
            .filter { !$0.input.hasSuffix(".pdf") }
        #expect(cases.count > 10)
        for row in cases {
            let query = try Dialect.parameters(of: "url=x.org&\(row.raw ?? "")", standard: .wsrv)
            let image = try ImageQueryGrammar(dialect: .wsrv).parse(query)
            let source = ByteBuffer(bytes: try Data(contentsOf: corpus.appendingPathComponent(row.input)))
            let job = ImageJob(
                source: source, pages: image.pages, chain: TransformChain(image.recipe),
                resampling: image.recipe.resampling, output: image.output)
            let size = try InProcessImageProcessor().process(job) { false }.size
            #expect(size.width == row.expect.w ?? size.width, "\(row.id) \(row.raw ?? "")")
            #expect(size.height == row.expect.h ?? size.height, "\(row.id) \(row.raw ?? "")")
        }
    }
}
