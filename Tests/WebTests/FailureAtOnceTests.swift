import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import Synchronization
import Testing

@testable import DarkroomWeb

/// Failures that are known without waiting, compared with the same failures after waiting.
struct FailureAtOnceTests {
    /// All that a client and an operator see of a request.
    private struct Seen: Equatable {
        var status: Int
        var fields: HTTPFields
        var body: String
        var problem: String?
        var details: AccessLogDetails
    }

    private final class Log: Sendable {
        let entries = Mutex<[AccessLogEntry]>([])
    }

    /// The answers to these requests in turn.
    private func seen(
        _ inquired: Inquired, _ targets: [String], method: HTTPRequest.Method, _ fields: HTTPFields, rate: Rate? = nil
    ) async throws -> [Seen] {
        var configuration = WebConfiguration.test(token: "t")
        configuration.now = { Date(timeIntervalSince1970: 1_800_000_000) }
        configuration.clientLimits.rateLimit = rate
        let log = Log()
        var observability = Observability.idle()
        observability.logRequest = { entry in log.entries.withLock { $0.append(entry) } }
        let image = ImageEndpoint(configuration: configuration, inquired: inquired) { _ in .stub() }
        let site = TestSite(.idle(image: image, observability: observability), configuration: configuration)
        var all: [Seen] = []
        for target in targets {
            let response = try await site.respond(target, method: method, fields: fields)
            let last = log.entries.withLock(\.last)
            let entry = try #require(last)
            var headers = response.headers
            headers[.date] = nil
            all.append(
                Seen(
                    status: response.status.code, fields: headers, body: try await response.text(),
                    problem: entry.problem, details: entry.details))
        }
        return all
    }

    private static let fields: [HTTPFields] = [
        [:], [.accept: "text/html,*/*;q=0.8"], [.accept: "image/avif,image/*,*/*;q=0.8"],
        [.secFetchDest: "image", .origin: "https://a.org"], [.authorization: "Bearer t"],
    ]

    private static let targets = [
        "/image?url=http://a.org/b.jpg", "/image?url=http://a.org/b.jpg&w=5&mark=http://b.org/c.png",
        "/info?url=http://a.org/b.jpg&fields=cache", "/?url=a.org/b.jpg", "/?url=a.org/b.jpg&default=1",
    ]

    @Test(
        arguments: [
            PipelineError.remembered(.notFound(status: 404, lifetime: .seconds(60)), retryAfterSeconds: 7),
            .remembered(.notFound(status: 410), retryAfterSeconds: 50),
            .remembered(
                .originFailed(OriginFailure("No.", receivedStatus: 500)), retryAfterSeconds: 3, isBeyondHTTP: true),
            .remembered(.originFailed(OriginFailure("No.", proxyError: .dnsError)), retryAfterSeconds: 3),
            .remembered(.corrupt, retryAfterSeconds: 3600), .remembered(.missingDecoder(.heic), retryAfterSeconds: 9),
            .notCached,
        ], fields)
    func `A failure at once is answered and logged as one that was waited for`(
        error: PipelineError, fields: HTTPFields
    ) async throws {
        for method in [HTTPRequest.Method.get, .head] {
            // The second time, a target may be known.
            let targets = Self.targets + Self.targets
            let atOnce = try await seen(.failed(error), targets, method: method, fields)
            let waited = try await seen(
                .waits { () throws(PipelineError) in throw error }, targets, method: method, fields)
            for (target, (atOnce, waited)) in zip(targets, zip(atOnce, waited)) {
                #expect(atOnce == waited, "\(target)")
            }
            #expect(atOnce.contains { $0.status >= 400 })
        }
    }

    @Test func `A failure at once counts the images that are drawn, like one that was waited for`() async throws {
        let error = PipelineError.remembered(.notFound(status: 404), retryAfterSeconds: 7)
        let targets = Array(repeating: Self.targets[1], count: 4)
        let waits = Inquired.waits { () throws(PipelineError) in throw error }
        for inquired in [.failed(error), waits] {
            let seen = try await seen(inquired, targets, method: .get, [:], rate: Rate("5/h"))
            #expect(seen.map(\.status) == [404, 404, 429, 429])
        }
    }
}
