import DarkroomTestClock
import DarkroomTestLogs
import DarkroomTestOrigin
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

/// Circuit breakers at work, over real sockets.
struct OutageTests {
    private let time = TestClock()

    /// The first ten connections end in a reset: five downloads, each with its retry.
    private static func recovering(_ request: TestOrigin.Request) -> [TestOrigin.Step] {
        request.index < 10 ? [.reset] : [.respond()]
    }

    private func bringDown(_ url: SourceURL, _ client: GuardedHTTPClient) async {
        for _ in 0..<5 { #expect(await client.failure(of: url) == .unreachable(.reset)) }
    }

    @Test func `After five failures a host is not asked until its rest is over, and an answer ends the outage`()
        async throws
    {
        let circuits = CircuitBreakerTable.forTests(time)
        try await withOrigin(circuits: circuits, script: Self.recovering) { client, origin async throws in
            let url = try origin.url()
            await bringDown(url, client)
            time.advance(by: .milliseconds(250))
            #expect(await client.failure(of: url) == .hostUnavailable(retryAfter: .milliseconds(750)))
            #expect(origin.requests.count == 10)
            time.advance(by: .milliseconds(750))
            #expect(await client.failure(of: url) == nil)
            #expect(await client.failure(of: url) == nil)
            #expect(circuits.count == 0)
        }
    }

    @Test func `URLs that a host does not answer pause the client that asks for them, and nobody else`() async throws {
        try await withOrigin(circuits: .forTests(time)) {
            $0.target == "/bad" ? [.reset] : [.respond()]
        } _: { client, origin async throws in
            func failure(_ target: String, of name: String) async throws -> OriginError? {
                var request = OriginRequest(url: try origin.url(target))
                request.clients = { [name] }
                do throws(OriginError) {
                    _ = try await client.fetch(request)
                    return nil
                } catch { return error }
            }
            for _ in 0..<5 { #expect(try await failure("/bad", of: "a") == .unreachable(.reset)) }
            #expect(try await failure("/good", of: "a") == .hostUnavailable(retryAfter: .seconds(1)))
            #expect(try await failure("/good", of: "b") == nil)
        }
    }

    @Test func `Others fail fast while a probe is on its way`() async throws {
        let answer = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        try await withOrigin(circuits: .forTests(time)) {
            $0.index == 10 ? [.wait(answer.futureResult), .respond()] : Self.recovering($0)
        } _: { client, origin async throws in
            let url = try origin.url()
            await bringDown(url, client)
            time.advance(by: .seconds(1))
            let probe = Task { await client.failure(of: url) }
            for await request in origin.arrivals where request.index == 10 { break }
            #expect(await client.failure(of: url) == .hostUnavailable(retryAfter: .seconds(1)))
            answer.succeed()
            #expect(await probe.value == nil)
            #expect(await client.failure(of: url) == nil)
        }
    }

    @Test func `A canceled probe is left to the next request`() async throws {
        try await withOrigin(circuits: .forTests(time)) {
            $0.index == 10 ? [.stall] : Self.recovering($0)
        } _: { client, origin async throws in
            let url = try origin.url()
            await bringDown(url, client)
            time.advance(by: .seconds(1))
            let probe = Task { await client.failure(of: url) }
            for await request in origin.arrivals where request.index == 10 { break }
            probe.cancel()
            #expect(await probe.value == .cancelled)
            #expect(await client.failure(of: url) == nil)
        }
    }

    @Test func `A redirect to a dead host does not discredit the host that sent it`() async throws {
        try await withOrigin(circuits: .forTests(time)) {
            $0.target == "/away" ? [.redirect(to: "http://dead.test/")] : [.respond()]
        } _: { client, origin async throws in
            for _ in 0..<5 { #expect(try await client.failure(of: origin.url("/away")) == .unreachable(.dns)) }
            #expect(try await client.failure(of: origin.url("/away")) == .hostUnavailable(retryAfter: .seconds(1)))
            #expect(try await client.failure(of: origin.url("/")) == nil)
            #expect(await client.failure(of: try SourceURL(parsing: "https://dead.test/")) == .unreachable(.dns))
        }
    }

    @Test func `Answers of every kind, slow ones included, are no outage`() async throws {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.maxRedirects = 0 }
        let circuits = CircuitBreakerTable.forTests(time)
        try await withOrigin(settings, circuits: circuits) { request in
            switch request.target {
            case "/500": [.respond("500 Oh")]
            case "/half": [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close]
            default: [.send("SSH-2.0-OpenSSH\r\n\r\n")]
            }
        } _: { client, origin async throws in
            for target in ["/500", "/half", "/odd"] {
                for _ in 0..<6 { #expect(try await client.failure(of: origin.url(target)) != nil) }
            }
            #expect(origin.requests.count == 18)
            #expect(circuits.count == 0)
        }
    }

    @Test func `Hanging until the deadline is a failure of the host and no cancellation`() async throws {
        let nameLookup = HangingNameLookup()
        let clock = TestClock()
        let circuits = CircuitBreakerTable.forTests(time)
        try await withOrigin(nameLookup: nameLookup, clock: clock, circuits: circuits) { _ in
            []
        } _: { client, _ async throws in
            let url = try SourceURL(parsing: "http://slow.test/")
            for _ in 0..<5 {
                let download = Task { await client.failure(of: url) }
                await nameLookup.questions.first { true }
                await clock.passSleep()
                #expect(await download.value == .timedOut(.lookup))
            }
            #expect(throws: OriginError.hostUnavailable(retryAfter: .seconds(1))) { try circuits.check(.init(url)) }
        }
    }

    @Test func `An outage that is forgotten is over`() async throws {
        try await withOrigin(circuits: .forTests(time), script: Self.recovering) { client, origin async throws in
            let url = try origin.url()
            await bringDown(url, client)
            client.clearOutages(ofHost: "127.0.0.2")
            #expect(await client.failure(of: url) == .hostUnavailable(retryAfter: .seconds(1)))
            client.clearOutages(ofHost: "127.0.0.1")
            #expect(await client.failure(of: url) == nil)
        }
    }

    @Test func `The log reports the host, begin and end of an outage`() async throws {
        let log = LogRecorder(level: .info)
        try await withOrigin(circuits: .forTests(time, logger: log.logger), script: Self.recovering) {
            client, origin async throws in
            let url = try origin.url("/secret?token=1")
            await bringDown(url, client)
            _ = await client.failure(of: url)
            time.advance(by: .seconds(1))
            for _ in 0..<2 { #expect(await client.failure(of: url) == nil) }
            #expect(
                log.lines == [
                    "warning: origin host is unreachable; requests to it are paused "
                        + "[\"host\": 127.0.0.1, \"pause\": 1.0 seconds, \"port\": \(origin.port)]",
                    "notice: origin host is reachable again [\"host\": 127.0.0.1, \"port\": \(origin.port)]",
                ])
        }
    }
}

struct CircuitBreakerTableTests {
    private let time = TestClock()

    private func fail(_ host: String, _ count: Int, _ circuits: CircuitBreakerTable) async throws {
        let peer = CircuitBreakerTable.Peer(try SourceURL(parsing: "http://\(host)/"))
        for _ in 0..<count {
            await #expect(throws: OriginError.unreachable(.refused)) {
                try await circuits.perform(peer) { () async throws(OriginError) in throw .unreachable(.refused) }
            }
        }
        time.advance(by: .milliseconds(1))
    }

    @Test func `Above the capacity, hosts that failed once are removed before hosts in an outage`()
        async throws
    {
        let circuits = CircuitBreakerTable(capacity: 16, now: { time.instant }, random: { 0.5 }, logger: .silent)
        try await fail("down", 5, circuits)
        for index in 0..<100 {
            try await fail("h\(index)", 1, circuits)
            #expect(circuits.count <= 16)
        }
        #expect(circuits.count > 8)
        let down = CircuitBreakerTable.Peer(try SourceURL(parsing: "http://down/"))
        #expect(throws: OriginError.self) { try circuits.check(down) }
    }

    @Test func `A host that answers is not remembered`() async throws {
        let circuits = CircuitBreakerTable.forTests(time)
        try await fail("shaky", 4, circuits)
        #expect(circuits.count == 1)
        let peer = CircuitBreakerTable.Peer(try SourceURL(parsing: "http://shaky/"))
        try await circuits.perform(peer) {}
        #expect(circuits.count == 0)
    }
}
