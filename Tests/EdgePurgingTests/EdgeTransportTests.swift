import DarkroomTestClock
import DarkroomTestLogs
import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import DarkroomEdgePurging

/// Requests over loopback, to servers that check them as strictly as the vendors' documentation says.
@Suite(.timeLimit(.minutes(5)))
struct EdgeTransportTests {
    private static let token = "secret-token-0123456789"

    private func transport(_ clock: any Clock<Duration> = ContinuousClock()) -> HTTPEdgeTransport {
        HTTPEdgeTransport(userAgent: "darkroom/1", clock: clock, eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
    }

    /// What the vendor refuses, by its documentation; nil = it accepts the request.
    private typealias Check = @Sendable (TestCollector.Request) -> String?

    private static func members(_ request: TestCollector.Request) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(request.body.readableBytesView))) as? [String: Any] ?? [:]
    }

    /// https://developers.cloudflare.com/api/resources/cache/methods/purge/
    private static let cloudflare: Check = { request in
        guard request.method == "POST", request.target == "/zones/0123456789abcdef/purge_cache" else { return "route" }
        guard request.fields["authorization"] == "Bearer \(token)" else { return "token" }
        guard request.fields["content-type"] == "application/json" else { return "type" }
        let members = members(request)
        guard let tags = members["tags"] as? [String], members.count == 1 else { return "members" }
        guard (1...100).contains(tags.count), Set(tags).count == tags.count else { return "count" }
        let isValid = tags.allSatisfy { tag in
            (1...1_024).contains(tag.utf8.count) && tag.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x2c }
        }
        return isValid ? nil : "tag"
    }

    /// https://www.fastly.com/documentation/reference/api/purging/
    private static let fastly: Check = { request in
        guard request.method == "POST", request.target == "/service/SU1Z0isxPaozGVKXdv0eY/purge" else { return "route" }
        guard request.fields["fastly-key"] == token else { return "token" }
        guard request.fields["accept"] == "application/json" else { return "accept" }
        guard ["1", nil].contains(request.fields["fastly-soft-purge"]) else { return "soft" }
        let keys = members(request)["surrogate_keys"] as? [String] ?? []
        guard (1...256).contains(keys.count) else { return "count" }
        let isValid = keys.allSatisfy { key in
            (1...1_024).contains(key.utf8.count) && key.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        }
        return isValid ? nil : "key"
    }

    /// https://docs.bunny.net/cdn/purge-cache
    private static let bunny: Check = { request in
        guard request.method == "POST", request.target == "/pullzone/42/purgeCache" else { return "route" }
        guard request.fields["accesskey"] == token else { return "token" }
        // Without a tag, the whole pull zone is emptied.
        guard let tag = members(request)["CacheTag"] as? String, !tag.isEmpty else { return "tag" }
        return tag.contains("*") || tag.contains(",") || tag.contains(" ") ? "wildcard" : nil
    }

    private static let confirmation = #"{"success":true,"errors":[],"messages":[],"result":{"id":"1"}}"#

    @Test(
        arguments: [
            (EdgeDestination.Vendor.cloudflare, "0123456789abcdef", cloudflare, 3),
            (.fastly, "SU1Z0isxPaozGVKXdv0eY", fastly, 1), (.bunny, "42", bunny, 251),
        ] as [(EdgeDestination.Vendor, String, Check, Int)])
    private func `A vendor's API accepts all requests, in batches of its size`(
        vendor: EdgeDestination.Vendor, account: String, check: @escaping Check, requests: Int
    ) async throws {
        let collector = TestCollector { request in
            check(request).map { TestCollector.Answer(400, body: $0) } ?? TestCollector.Answer(body: Self.confirmation)
        }
        try await collector.start()
        let file = try URL.temporaryFile("token", "\(Self.token)\n").path
        let logs = LogRecorder()
        let purger = EdgePurger(
            [EdgeDestination(vendor, account: account, url: collector.url, secretFile: file)], everything: "darkroom",
            file: nil, transport: transport(), logger: logs.logger)
        var tickets: [EdgePurger.Ticket] = []
        for index in 0..<250 { tickets.append(await purger.tell(.stub("s-\(index)"), after: .zero, again: nil)) }
        tickets.append(await purger.tell(.stub("a b*,"), after: .zero, again: nil))
        let run = Task { await purger.run() }
        for ticket in tickets {
            #expect(await purger.wait(for: ticket).map(\.progress) == [.told])
        }
        purger.stop()
        await run.value
        #expect(collector.requests.count == requests)
        #expect(collector.requests.compactMap { check($0) } == [])
        #expect(logs.lines.allSatisfy { !$0.contains(Self.token) })
        try await collector.stop()
    }

    @Test func `A purge asks for exactly the configured URL`() async throws {
        let collector = TestCollector()
        try await collector.start()
        let transport = transport()
        let target = "/purge/Gr%FC%DFe?key='|[1]"
        _ = try await transport.send(EdgeRequest(method: "PURGE", url: collector.url + target))
        #expect(collector.requests.map(\.method) == ["PURGE"])
        #expect(collector.requests.map(\.target) == [target])
        await transport.shutdown()
        try await collector.stop()
    }

    /// https://developers.cloudflare.com/cache/how-to/purge-cache/#purge-limits
    private final class TokenBucket: Sendable {
        private let size: Double
        private let perSecond: Double
        private let now: @Sendable () -> Date
        private let state: Mutex<(tokens: Double, date: Date)>

        init(size: Double, perSecond: Double, now: @escaping @Sendable () -> Date) {
            (self.size, self.perSecond, self.now) = (size, perSecond, now)
            state = Mutex((size, now()))
        }

        /// Takes a token.
        ///
        /// - Returns: the seconds until there is one, rounded up, if there is none.
        func take() -> Int? {
            let now = now()
            return state.withLock { state in
                state.tokens = min(size, state.tokens + now.timeIntervalSince(state.date) * perSecond)
                state.date = now
                guard state.tokens < 1 else {
                    state.tokens -= 1
                    return nil
                }
                return Int(((1 - state.tokens) / perSecond).rounded(.up))
            }
        }
    }

    @Test(
        arguments: [
            // The free plan, the plan Pro, and the free plan if an answer does not say when to come again.
            (25, 5.0 / 60, true), (25, 5, true), (25, 5.0 / 60, false),
        ] as [(Double, Double, Bool)])
    func `No purge is lost under the rate limits of Cloudflare's plans`(
        size: Double, perSecond: Double, saysWhen: Bool
    ) async throws {
        // Time passes with each pause of a delivery, but not with a caller's longest wait.
        let clock = TestClock(skips: { $0 <= EdgePurger.maxPause })
        let bucket = TokenBucket(size: size, perSecond: perSecond) { clock.date }
        let purged = Mutex<Set<String>>([])
        let allQueued = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        let gate = Mutex<EventLoopFuture<Void>?>(nil)
        let collector = TestCollector { request in
            let gate = gate.withLock(\.self)
            if let seconds = bucket.take() {
                // https://developers.cloudflare.com/fundamentals/api/reference/limits/#rate-limiting-headers
                return TestCollector.Answer(
                    429, fields: saysWhen ? [("Retry-After", "\(seconds)")] : [], body: #"{"success":false}"#,
                    gate: gate)
            }
            if let flaw = Self.cloudflare(request) { return TestCollector.Answer(400, body: flaw) }
            purged.withLock { $0.formUnion(Self.members(request)["tags"] as? [String] ?? []) }
            return TestCollector.Answer(body: Self.confirmation, gate: gate)
        }
        try await collector.start()
        let logs = LogRecorder()
        let purger = EdgePurger(
            [
                EdgeDestination(
                    .cloudflare, account: "0123456789abcdef", url: collector.url,
                    secretFile: try URL.temporaryFile("token", Self.token).path)
            ], everything: "darkroom", file: nil, transport: transport(), clock: clock, now: { clock.date },
            jitter: { 0 }, logger: logs.logger)
        let run = Task { await purger.run() }
        for index in 0..<40 {
            let ticket = await purger.tell(.stub("one-\(index)"), after: .zero, again: nil)
            #expect(await purger.wait(for: ticket).map(\.progress) == [.told])
            #expect(purged.withLock { $0.contains("one-\(index)") })
        }
        // Answers wait until all are queued, as a busy machine would send each purge alone otherwise.
        gate.withLock { $0 = allQueued.futureResult }
        var tickets: [EdgePurger.Ticket] = []
        for index in 0..<200 {
            tickets.append(await purger.tell(.stub("s-\(index)"), after: .zero, again: .seconds(32)))
        }
        allQueued.succeed()
        for ticket in tickets { #expect(await purger.wait(for: ticket).map(\.progress) == [.told]) }
        purger.stop()
        await run.value
        #expect(purged.withLock(\.count) == 240)
        let statistics = try #require(purger.statistics.first)
        #expect(statistics.refused == 0 && statistics.collapsed == 0 && statistics.pending == 0)
        #expect(statistics.told <= 60)
        // What was told in excess of the bucket had to wait.
        let least = (Double(statistics.told) - size) / perSecond
        #expect(clock.elapsed >= .seconds(least - 1), "\(clock.elapsed)")
        // Time may pass while the purges are queued, so that the second round of the last one is due at 64 seconds, and
        // while a busy machine answers.
        #expect(clock.elapsed <= .seconds(least * (saysWhen ? 1.1 : 2) + 136), "\(clock.elapsed)")
        #expect(saysWhen ? statistics.postponed <= statistics.told : statistics.postponed > 0)
        try await collector.stop()
    }

    @Test func `An answer without an end is not received, and confirms nothing that its body has to`() async throws {
        let collector = TestCollector { _ in
            TestCollector.Answer(body: String(repeating: " ", count: 64 << 10), isEndless: true)
        }
        try await collector.start()
        let transport = transport()
        let answer = try await transport.send(EdgeRequest(method: "POST", url: collector.url))
        #expect(answer.status == 200 && answer.body == nil)
        for await _ in collector.refusals { break }
        #expect(EdgeDestination(.cloudflare, account: "a").api.verdict(on: answer, now: Date()) != .told)
        #expect(EdgeDestination(.fastly, account: "a").api.verdict(on: answer, now: Date()) == .told)
        await transport.shutdown()
        try await collector.stop()
    }

    @Test func `An edge that hangs is left after ten seconds`() async throws {
        let gate = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        let collector = TestCollector { _ in TestCollector.Answer(gate: gate.futureResult) }
        try await collector.start()
        let clock = TestClock()
        let transport = transport(clock)
        async let failure = error(of: transport, collector.url)
        for await _ in collector.arrivals { break }
        clock.advance(by: HTTPEdgeTransport.timeout)
        #expect(await failure == "it did not answer within 10 seconds")
        gate.succeed()
        await transport.shutdown()
        try await collector.stop()
    }

    private func error(of transport: HTTPEdgeTransport, _ url: String) async -> String? {
        do throws(EdgeTransportFailure) {
            _ = try await transport.send(EdgeRequest(method: "POST", url: url, fields: [("Fastly-Key", Self.token)]))
            return nil
        } catch { return error.reason }
    }

    @Test func `A refused connection and a redirect are failures whose texts have no secrets`() async throws {
        let collector = TestCollector { _ in TestCollector.Answer(302, fields: [("Location", "http://127.0.0.1:1/")]) }
        try await collector.start()
        let transport = transport()
        let url = collector.url
        let answer = try await transport.send(EdgeRequest(method: "POST", url: url))
        #expect(answer.status == 302 && collector.requests.count == 1)
        try await collector.stop()
        let reason = await error(of: transport, "http://127.0.0.1:1/secret")
        #expect(reason == "it cannot be reached, or the connection was lost")
        await transport.shutdown()
    }

    @Test(arguments: ["000 x", "050 x", "099 x", "101 Switching Protocols"])
    func `An invalid status, or one that was not requested, is a failure`(status: String) async throws {
        for rest in ["Content-Length: 0\r\n\r\n", "Content-Length: 3\r\n\r\nabc", "\r\n"] {
            let origin = TestOrigin { _ in [.send("HTTP/1.1 \(status)\r\n\(rest)"), .close] }
            try await origin.start()
            let transport = transport()
            let reason = await error(of: transport, "http://127.0.0.1:\(origin.port)/")
            #expect(reason == "it cannot be reached, or the connection was lost")
            await transport.shutdown()
            try await origin.stop()
        }
    }

    @Test func `A token is read for each request, and a missing file is reported without its path`() async throws {
        let file = try URL.temporaryFile("token", "first-token")
        let destination = EdgeDestination(.fastly, account: "a", secretFile: file.path)
        let secrets = EdgeSecrets()
        #expect(try await secrets.secret(of: destination) == "first-token")
        try "second-token\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(try await secrets.secret(of: destination) == "second-token")
        try FileManager.default.removeItem(at: file)
        await #expect(throws: EdgeTransportFailure(reason: "the file with its token cannot be read")) {
            try await secrets.secret(of: destination)
        }
    }
}
