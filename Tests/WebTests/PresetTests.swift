import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomRequests
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

/// `preset=NAME`.
struct PresetTests {
    private static let token = "correct-horse-battery"
    private let bearer: HTTPFields = [.authorization: "Bearer \(token)"]
    private let source = "url=https://example.com/photo.jpg"

    private func configuration(isOnly: Bool = false, _ keys: SigningKey...) throws -> WebConfiguration {
        var configuration = WebConfiguration.test(token: Self.token)
        let rules = [
            "avatar": "w=96&h=96&fit=cover&output=webp", "hero": "w=1200&crop=0,0,9,9", "wide": "ar=16:9&w=50p",
            "plain": "",
        ]
        for (name, query) in rules { try configuration.access.presets.add(name, query, limits: QueryLimits()) }
        configuration.access.presetsOnly = isOnly
        configuration.access.signingKeys = keys
        return configuration
    }

    /// What was asked of the pipeline.
    private func recipe(_ query: String, _ configuration: WebConfiguration) async throws -> Recipe? {
        let asked = Mutex<Recipe?>(nil)
        let site = TestSite(configuration: configuration) { request throws(PipelineError) in
            asked.withLock { $0 = request.recipe }
            return .stub()
        }
        #expect(try await site.respond("/image?" + query).status == .ok, "\(query)")
        return asked.withLock { $0 }
    }

    @Test func `A preset is the same picture as its parameters spelled out`() async throws {
        let configuration = try configuration()
        for (short, long) in [
            ("preset=avatar", "w=96&h=96&fit=cover&output=webp"), ("preset=avatar&w=48", "w=48&h=96&fit=cover"),
            ("fit=fill&preset=avatar", "w=96&h=96&fit=fill"), ("preset=hero", "w=1200&crop=0%2C0%2C9%2C9"),
            ("preset=plain", ""),
            ("preset=wide&w=160", "w=160&h=90&fit=cover"),
        ] {
            let expanded = try await recipe("\(source)&\(short)", configuration)
            #expect(try await expanded == recipe("\(source)&\(long)", configuration), "\(short)")
        }
    }

    @Test(arguments: [
        ("preset=avatr", "Did you mean 'avatar'?"), ("preset=", "There is no preset ''"),
        ("preset", "There is no preset"),
        ("preset=avatar&preset=hero", "only once"), ("preset=avatar&w=0", "'w'"),
        ("preset=avatar&preest=1", "There is no parameter 'preest'"),
    ])
    func `What a preset can't be is refused by name`(query: String, sentence: String) async throws {
        let problem = try await TestSite(configuration: configuration()).problem("/image?\(source)&\(query)")
        #expect(problem.status == 400)
        #expect(problem.detail.contains(sentence))
    }

    @Test(arguments: [
        ("a b", "w=1"), ("", "w=1"), (String(repeating: "a", count: 33), "w=1"), ("avatar", "w=1"), ("x", "w=0"),
        ("x", "width=1"), ("x", "url=y"), ("x", "w=1&w=2"), ("x", "preset=avatar"), ("x", "s=y"), ("x", "exp=9"),
        ("x", "%FF=1"), ("x", "fpx=0.1"),
    ])
    func `A preset that means nothing is refused where it is made`(name: String, query: String) throws {
        var presets = try configuration().access.presets
        let flaw = #expect(throws: Presets.Flaw.self) { try presets.add(name, query, limits: QueryLimits()) }
        #expect(flaw?.description.contains("preset") == true)
    }

    @Test func `Where pictures are made by presets alone nothing that changes them may stand beside one`()
        async throws
    {
        let site = TestSite(configuration: try configuration(isOnly: true))
        for query in ["preset=avatar", "preset=hero&filename=a.jpg&default=https://example.com/b.png"] {
            #expect(try await site.respond("/image?\(source)&\(query)").status == .ok)
        }
        for query in ["", "&w=96", "&preset=avatar&w=96", "&preset=avatar&maxage=1h", "&preset=avatar&cache=reload"] {
            let problem = try await site.problem("/image?\(source)\(query)")
            #expect(problem.type == "/problems/presets-only")
            #expect(problem.status == 403)
        }
        #expect(try await site.problem("/image?\(source)&preset=avatar&w=9").parameter == "w")
        #expect(try await site.respond("/info?\(source)").status == .ok)
        #expect(try await site.problem("/info?\(source)&fields=all").type == "/problems/presets-only")
        #expect(try await site.problem("/srcset?\(source)").type == "/problems/presets-only")
        #expect(try await site.respond("/image?\(source)&w=96", fields: bearer).status == .ok)
    }

    @Test func `A key with presets makes pictures by its presets alone`() async throws {
        let secret = String(repeating: "secret-", count: 6)
        let key = try SigningKey(id: "k1", secret: secret, presets: ["avatar"])
        let site = TestSite(configuration: try configuration(key))
        let target = { (query: String) in
            let request = SignedRequest(path: "/image", parameters: try QueryString(parsing: "\(source)&\(query)"))
            return "/image?\(request.query)&s=\(key.sign(request).text)"
        }
        #expect(try await site.respond(try target("preset=avatar")).status == .ok)
        for query in ["preset=hero", "w=96", "preset=avatar&w=48", ""] {
            #expect(try await site.problem(try target(query)).type == "/problems/presets-only", "\(query)")
        }
    }

    @Test func `Jobs of prefetching know presets too, and what they make is what requests find`() throws {
        let grammar = PrefetchGrammar(presets: try configuration().access.presets)
        var body = try PrefetchBody(parsing: Data(#"{"urls": ["https://example.com/photo.jpg"]}"#.utf8))
        body.queries = ["preset=avatar", "w=96&h=96&fit=cover&output=webp"]
        let pictures = try grammar.images(of: body, accept: nil)
        #expect(pictures.map(\.request.recipe).count == 2)
        #expect(pictures[0].request.recipe == pictures[1].request.recipe)
        body.queries = ["preset=avatr"]
        #expect(throws: InvalidBody.self) { try grammar.images(of: body, accept: nil) }
    }
}
