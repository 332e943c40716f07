import DarkroomHTTPServer
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Testing
import Yams

@testable import DarkroomWeb

struct OperationsTests {
    private let token = "correct-horse-battery"

    private func respond(_ path: String, credentials: String?) async throws -> Response {
        var fields: HTTPFields = [:]
        fields[.authorization] = credentials
        return try await TestSite(configuration: .test(token: token)).respond(path, fields: fields)
    }

    @Test func `Metrics are the current exposition, which is not cacheable`() async throws {
        let response = try await respond("/metrics", credentials: "Bearer \(token)")
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(response.headers[.cacheControl] == "no-store")
        #expect(try await response.text() == "# TYPE a gauge\na 1\n")
    }

    @Test func `Caches are numbers by tier, and unknown values are omitted`() async throws {
        let response = try await respond("/cache", credentials: "Bearer \(token)")
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.cacheControl] == "no-store")
        let tier = #"{"budget_bytes":3,"bytes":2,"entries":1,"hits":4,"misses":5}"#
        #expect(try await response.text() == #"{"decoded":\#(tier),"memory":\#(tier)}"#)
    }

    @Test(arguments: ["/metrics", "/cache"], [nil, "", "Bearer correct-horse-batterx", "Basic correct-horse-battery"])
    func `Metrics and caches require the token`(path: String, credentials: String?) async throws {
        let response = try await respond(path, credentials: credentials)
        #expect(response.status == .unauthorized)
        #expect(response.headers[.wwwAuthenticate] == #"Bearer realm="darkroom""#)
        let text = try await response.text()
        #expect(!text.contains("budget") && !text.contains("gauge"))
    }

    @Test(arguments: ["/metrics", "/cache"])
    func `A server without a token denies access to them`(path: String) async throws {
        let problem = try await TestSite().problem(path, fields: [.authorization: "Bearer \(token)"])
        #expect(problem.status == 403)
        #expect(problem.type == "/problems/admin-disabled")
    }

    @Test(arguments: ["/health/ready", "/health"])
    func `Draining ends readiness but not liveness`(path: String) async throws {
        let serverState = ServerState()
        let site = TestSite(observability: .idle(serverState: serverState))
        #expect(try await site.respond(path).status == .ok)
        serverState.startDraining()
        let response = try await site.respond(path)
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers[.retryAfter] == "1")
        #expect(response.headers[.contentType] == "application/problem+json")
        #expect(try await site.respond(path, method: .head).status == .serviceUnavailable)
        #expect(try await site.respond("/health/live").status == .ok)
        #expect(try await site.respond("/image?url=https://example.com/").status == .ok)
    }

    @Test func `A starting server is not ready until it has finished starting`() async throws {
        let serverState = ServerState(isStarting: true)
        let site = TestSite(observability: .idle(serverState: serverState))
        #expect(try await site.problem("/health/ready").type == "/problems/unavailable")
        #expect(try await site.respond("/health/live").status == .ok)
        serverState.finishStarting()
        #expect(try await site.respond("/health/ready").status == .ok)
    }

    @Test func `A failing cache ends readiness until it recovers`() async throws {
        let works = Mutex(false)
        let site = TestSite(
            observability: .idle(isCacheHealthy: { works.withLock(\.self) }))
        #expect(try await site.problem("/health/ready").type == "/problems/cache-unavailable")
        #expect(try await site.respond("/health/ready").headers[.retryAfter] == "5")
        #expect(try await site.respond("/image?url=https://example.com/").status == .ok)
        works.withLock { $0 = true }
        #expect(try await site.respond("/health/ready").status == .ok)
    }

    @Test func `The contract describes every member of the caches document`() throws {
        let contract = try Contract()
        var tier = CacheTier(entries: 1, bytes: 2, budgetBytes: 3, hits: 4, misses: 5)
        #expect(members(tier) == strings(contract["components"]?["schemas"]?["CacheTier"]?["required"]))
        let tiers = CacheTiers(memory: tier, disk: nil, decoded: tier)
        #expect(members(tiers) == strings(contract["components"]?["schemas"]?["CacheTiers"]?["required"]))
        (tier.evictions, tier.damaged, tier.droppedWrites, tier.queuedWrites, tier.queuedBytes) = (0, 0, 0, 0, 0)
        #expect(members(tier) == keys(contract["components"]?["schemas"]?["CacheTier"]?["properties"]))
        let full = CacheTiers(memory: tier, disk: tier, decoded: tier)
        #expect(members(full) == keys(contract["components"]?["schemas"]?["CacheTiers"]?["properties"]))
        let example = contract["components"]?["responses"]?["Caches"]?["content"]?["application/json"]?["example"]
        #expect(throws: Never.self) { try CacheTiers(example: example) }
    }

    @Test(arguments: ["/health/live", "/health/ready", "/health"])
    func `A healthy probe is one word of JSON`(path: String) async throws {
        let response = try await TestSite().respond(path)
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "application/json")
        #expect(try await response.text() == #"{"status":"ok"}"#)
    }

    @Test(arguments: [(false, "User-agent: *\nDisallow: /\n"), (true, "User-agent: *\nDisallow: \n")])
    func `Crawlers may fetch nothing unless the server allows it, and need no signature to know`(
        allowsRobots: Bool, text: String
    ) async throws {
        var configuration = WebConfiguration.test(token: token)
        configuration.allowsRobots = allowsRobots
        configuration.access.presetsOnly = true
        configuration.clientLimits.rateLimit = Rate("1/s")
        let site = TestSite(configuration: configuration)
        for _ in 1...3 {
            let response = try await site.respond("/robots.txt")
            #expect(response.status == .ok)
            #expect(response.headers[.contentType] == "text/plain; charset=utf-8")
            #expect(try await response.text() == text)
        }
    }

    @Test(arguments: ["/metrics", "/cache", "/prefetch/1"])
    func `A listener without administration says where it is`(path: String) async throws {
        var configuration = WebConfiguration.test(token: token)
        configuration.adminAddress = .host("127.0.0.1", port: 9090)
        let site = TestSite(configuration: configuration)
        let problem = try await site.problem(path)
        #expect(problem.status == 404 && problem.type == "/problems/no-such-route")
        #expect(problem.detail.contains("'admin-port'"))
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch])
    func `The cache's path supports DELETE, GET and HEAD only`(method: HTTPRequest.Method) async throws {
        let response = try await TestSite().respond("/cache?all=true", method: method)
        #expect(response.status == .methodNotAllowed)
        #expect(response.headers[.allow] == "DELETE, GET, HEAD")
    }

    @Test func `The query in a signed path is not logged`() async throws {
        let paths = Mutex<[String]>([])
        var observability = Observability.idle()
        observability.logRequest = { entry in paths.withLock { $0.append(entry.path) } }
        _ = try await TestSite(observability: observability).respond("/signed/k1.abc/dXJsPWE")
        #expect(paths.withLock(\.self) == ["/signed/…"])
    }

    private func members(_ document: some Encodable) -> Set<String>? {
        let json = try? JSONSerialization.jsonObject(with: encoded(document))
        return (json as? [String: Any]).map { Set($0.keys) }
    }

    private func strings(_ node: Node?) -> Set<String>? { (node?.sequence?.compactMap(\.string)).map(Set.init) }

    private func keys(_ node: Node?) -> Set<String>? { (node?.mapping?.keys.compactMap(\.string)).map(Set.init) }

    @Test func `A server that cannot process images is not ready`() async throws {
        var observability = Observability.idle()
        observability.isHealthy = { false }
        let site = TestSite(observability: observability)
        let response = try await site.respond("/health/ready")
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers[.retryAfter] == "5")
        #expect(try await response.text().contains("exit faster than they can be replaced"))
        #expect(try await site.respond("/health/live").status == .ok)
    }
}
