import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomTestClock
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Synchronization
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

struct PurgeTests {
    private let token = "correct-horse-battery"

    /// What a purge was asked to do.
    private struct Order: Hashable {
        var target: PurgeTarget?
        var soft = false
        var dryRun = false
        var tiers = TierSet.all
    }

    /// Keeps the orders of an endpoint that always finds the same.
    private final class Orders: Sendable {
        let given = Mutex<[Order]>([])

        static var report: PurgeReport {
            var report = PurgeReport()
            report.sourceCount = 2_000
            report.sources = [PurgeReport.Source(url: "https://example.com/a.jpg", entries: 3, bytes: 40)]
            report.entries = 5
            report.bytes = 60
            return report
        }

        func endpoint() -> PurgeEndpoint {
            PurgeEndpoint { [self] target, soft, dryRun, tiers, _ in
                given.withLock { $0.append(Order(target: target, soft: soft, dryRun: dryRun, tiers: tiers)) }
                return Self.report
            } removeExpired: { [self] in
                given.withLock { $0.append(Order()) }
                return Self.report
            }
        }
    }

    private func purge(_ query: String) async throws -> (response: Response, orders: [Order]) {
        let orders = Orders()
        let response = try await TestSite(configuration: .test(token: token), purge: orders.endpoint())
            .respond("/cache?" + query, method: .delete, fields: [.authorization: "Bearer \(token)"])
        return (response, orders.given.withLock { $0 })
    }

    private static func source(_ url: String) throws -> PurgeTarget { .source(try SourceURL(parsing: url)) }

    @Test(
        arguments: [
            ("url=https%3A%2F%2FExample.com%2Fa.jpg", Order(target: try! source("https://example.com/a.jpg"))),
            ("prefix=https://example.com/a", Order(target: .prefix("https://example.com/a"))),
            ("host=Example.com&soft", Order(target: .host("example.com"), soft: true)),
            ("host=2001:DB8::1", Order(target: .host("2001:db8::1"))),
            ("tag=summer&dry_run=true", Order(target: .tag("summer"), dryRun: true)),
            ("tag=a%20b&dry_run=true&soft=1", Order(target: .tag("a b"), soft: true, dryRun: true)),
            ("all=true", Order(target: .everything)), ("all&expired=false", Order(target: .everything)),
            ("all&tier=memory", Order(target: .everything, tiers: .memory)),
            ("all&tier=disk&dry_run", Order(target: .everything, dryRun: true, tiers: .disk)),
            ("expired=true", Order()), ("expired&all=false&soft=false", Order()),
        ])
    private func `Every purge scope reaches the caches`(query: String, order: Order) async throws {
        let (response, orders) = try await purge(query)
        #expect(response.status == .ok)
        #expect(orders == [order])
    }

    @Test func `The response counts what was removed, and lists it for a dry run`() async throws {
        let done = try await purge("all").response
        #expect(done.headers[.contentType] == "application/json")
        #expect(done.headers[.cacheControl] == "no-store")
        #expect(
            try await done.text() == #"{"bytes":60,"dry_run":false,"entries":5,"soft":false,"sources":2000}"#)
        #expect(
            try await purge("all&soft&dry_run").response.text()
                == #"{"bytes":60,"dry_run":true,"entries":5,"list":"#
                + #"[{"bytes":40,"entries":3,"url":"https://example.com/a.jpg"}],"soft":true,"sources":2000}"#)
    }

    @Test(arguments: [true, false])
    func `A purge that takes long is answered with its progress, and goes on`(waits: Bool) async throws {
        let (held, release) = AsyncStream<Void>.makeStream()
        let (told, tell) = AsyncStream<Void>.makeStream()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let clock = TestClock()
        var endpoint = PurgeEndpoint { _, _, _, _, progress in
            var report = Orders.report
            report.propagation = .within(.seconds(6))
            progress(report)
            begin.finish()
            for await _ in held {}
            return report
        } removeExpired: {
            PurgeReport()
        }
        endpoint.clock = clock
        endpoint.tellEdges = { _ in
            tell.finish()
            return []
        }
        let site = TestSite(configuration: .test(token: token), purge: endpoint)
        let query = waits ? "all&wait" : "all"
        let driver = Task {
            for await _ in begun {}
            if waits { release.finish() } else { await clock.passSleep() }
        }
        let response = try await site.respond(
            "/cache?\(query)", method: .delete, fields: [.authorization: "Bearer \(token)"])
        await driver.value
        #expect(response.status == (waits ? .ok : .accepted))
        #expect(
            try await response.text() == #"{"bytes":60,"dry_run":false,"# + (waits ? #""edges":[],"# : "")
                + #""entries":5,"propagation":6,"# + (waits ? "" : #""running":true,"#)
                + #""soft":false,"sources":2000}"#)
        release.finish()
        for await _ in told {}
    }

    @Test func `A purge that did not reach the other servers fails while it continues here`() async throws {
        let (held, release) = AsyncStream<Void>.makeStream()
        let clock = TestClock { _ in true }
        var endpoint = PurgeEndpoint { _, _, _, _, progress in
            var report = PurgeReport()
            report.propagation = .failed
            progress(report)
            for await _ in held {}
            return report
        } removeExpired: {
            PurgeReport()
        }
        endpoint.clock = clock
        let problem = try await TestSite(configuration: .test(token: token), purge: endpoint)
            .problem("/cache?all", method: .delete, fields: [.authorization: "Bearer \(token)"])
        #expect(problem.type == "/problems/purge-not-shared")
        release.finish()
    }

    @Test func `A list has at most a thousand members`() throws {
        var report = PurgeReport()
        report.sources = Array(repeating: .init(url: "https://example.com/", entries: 1, bytes: 1), count: 1_001)
        #expect(PurgeDocument(report, of: try PurgeGrammar().parse("all&dry_run")).list?.count == 1_000)
    }

    @Test(arguments: [
        ("", nil), ("soft", nil), ("all=false", nil), ("url=https://a.org/&all", "all"), ("all&expired", "expired"),
        ("host=a.org&tag=b", "tag"), ("url", "url"), ("url=ftp://a.org/", "url"), ("url=a", "url"),
        ("prefix=", "prefix"), ("prefix=a.org", "prefix"), ("prefix=https://", "prefix"),
        ("prefix=https://A.org/", "prefix"), ("prefix=https://a.org/%23x", "prefix"), ("host=a.org:80", "host"),
        ("host=[::1]", "host"), ("host=a/b", "host"), ("host=", "host"), ("tag=", "tag"), ("tag=%C3%A9", "tag"),
        ("tag=a%0Ab", "tag"), ("all=yes", "all"), ("host=a.org&tier=disk", "tier"), ("all&tier=both", "tier"),
        ("all&tier=disk&soft", "soft"), ("expired&soft", "soft"), ("expired&dry_run", "dry_run"),
        ("all&all", "all"), ("all&dryrun", "dryrun"), ("all&w=1", "w"),
    ])
    func `An invalid query removes nothing`(query: String, parameter: String?) async throws {
        let (response, orders) = try await purge(query)
        let problem = try JSONDecoder().decode(Problem.Document.self, from: Data(try await response.text().utf8))
        #expect(problem.status == 400)
        #expect(problem.parameter == parameter)
        #expect(orders.isEmpty)
    }

    @Test(arguments: [
        nil, "", "Bearer", "Bearer ", "Bearer correct-horse-batterx", "Bearer correct-horse-battery2",
        "Basic correct-horse-battery", "correct-horse-battery", "Bearer correct-horse-battery, Bearer x",
    ])
    func `A purge without the token is refused with a challenge`(credentials: String?) async throws {
        let orders = Orders()
        var fields: HTTPFields = [:]
        fields[.authorization] = credentials
        let site = TestSite(configuration: .test(token: token), purge: orders.endpoint())
        let response = try await site.respond("/cache?all", method: .delete, fields: fields)
        #expect(response.status == .unauthorized)
        #expect(response.headers[.wwwAuthenticate] == #"Bearer realm="darkroom""#)
        #expect(orders.given.withLock { $0.isEmpty })
    }

    @Test(arguments: [nil, "Bearer ", "Bearer correct-horse-battery"])
    func `A server without a token refuses purges and says how to set one`(credentials: String?)
        async throws
    {
        let orders = Orders()
        var fields: HTTPFields = [:]
        fields[.authorization] = credentials
        let problem = try await TestSite(purge: orders.endpoint())
            .problem("/cache?all", method: .delete, fields: fields)
        #expect(problem.status == 403)
        #expect(problem.type == "/problems/admin-disabled")
        #expect(problem.detail.contains("admin-token"))
        #expect(orders.given.withLock { $0.isEmpty })
    }

    @Test func `The response to a wrong token does not depend on the query`() async throws {
        let problem = try await TestSite(configuration: .test(token: token)).problem("/cache?nonsense", method: .delete)
        #expect(problem.status == 401)
    }
}
