import DarkroomTestClock
import DarkroomTestOrigin
import NIOCore
import NIOPosix
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

/// Resets, stalls, deadlines and cancellation.
struct OriginErrorTests {
    @Test(arguments: [TestOrigin.Step.reset, .close])
    func `A reset before a byte of response is retried once`(ending: TestOrigin.Step) async throws {
        try await withOrigin {
            $0.index == 0 ? [ending] : [.respond()]
        } _: { client, origin async throws in
            #expect(try await String(buffer: client.fetch(origin.url()).body) == "picture")
            #expect(origin.requests.count == 2)
        }
        try await withOrigin { _ in
            [ending]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == .unreachable(.reset))
            #expect(origin.requests.count == 2)
        }
    }

    @Test func `A 408, which an idle connection may end with, is retried once`() async throws {
        try await withOrigin {
            $0.index == 0 ? [.respond("408 Request Timeout"), .close] : [.respond()]
        } _: { client, origin async throws in
            #expect(try await String(buffer: client.fetch(origin.url()).body) == "picture")
        }
        try await withOrigin { _ in
            [.respond("408 Request Timeout")]
        } _: { client, origin async throws in
            guard case .unexpectedStatus(let response) = try await client.failure(of: origin.url()) else {
                Issue.record("It is no failure with a status.")
                return
            }
            #expect(response.status == 408 && origin.requests.count == 2)
        }
    }

    @Test(arguments: ["000 x", "050 x", "099 x", "101 Switching Protocols"])
    func `An invalid status, or one that was not requested, is malformed`(status: String) async throws {
        for rest in ["Content-Length: 0\r\n\r\n", "Content-Length: 3\r\n\r\nabc", "\r\n"] {
            try await withOrigin { _ in
                [.send("HTTP/1.1 \(status)\r\n\(rest)"), .close]
            } _: { client, origin async throws in
                #expect(try await client.failure(of: origin.url()) != nil)
            }
        }
    }

    @Test(arguments: [TestOrigin.Step.reset, .close])
    func `A reset after the response began is not retried`(ending: TestOrigin.Step) async throws {
        let half = TestOrigin.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        try await withOrigin { _ in
            [half, ending]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == .unreachable(.incomplete))
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `There is one retry for a whole chain of redirects`() async throws {
        try await withOrigin { request in
            switch request.index {
            case 0: [.reset]
            case 1: [.redirect(to: "/b")]
            default: [.reset]
            }
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == .unreachable(.reset))
            #expect(origin.requests.count == 3)
        }
    }

    @Test func `A server that hung up on an idle connection costs a retry at most`() async throws {
        try await withOrigin { _ in
            [.respond(), .close]
        } _: { client, origin async throws in
            for _ in 0..<20 { _ = try await client.fetch(origin.url()) }
        }
    }

    @Test(
        "the deadline covers the response from its first byte to its last, and says which part was slow",
        arguments: [
            ([.stall], .response), ([.send("HTTP/1.1 200 OK\r\nX-Slow: "), .drip], .response),
            ([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .stall], .body),
            ([.send("HTTP/1.1 200 OK\r\n\r\n"), .drip], .body),
        ] as [([TestOrigin.Step], OriginError.Phase)])
    func deadline(steps: [TestOrigin.Step], phase: OriginError.Phase) async throws {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.downloadTimeout = .seconds(5) }
        try await withOrigin(settings) { _ in
            steps
        } _: { client, origin async throws in
            let start = ContinuousClock.now
            #expect(try await client.failure(of: origin.url()) == .timedOut(phase))
            #expect(start.duration(to: .now) < .seconds(60))
            for await _ in origin.hangUps { break }
        }
    }

    @Test func `The deadline covers a chain of redirects`() async throws {
        let settings = try GuardedHTTPClient.Settings.loopback {
            $0.downloadTimeout = .milliseconds(150)
            $0.maxRedirects = .max - 1
        }
        try await withOrigin(settings) { _ in
            [.redirect(to: "/")]
        } _: { client, origin async throws in
            guard case .timedOut = try await client.failure(of: origin.url()) else {
                Issue.record("not timed out")
                return
            }
        }
    }

    @Test func `The deadline covers a look-up that hangs`() async throws {
        let (nameLookup, clock) = (HangingNameLookup(), TestClock())
        try await withOrigin(nameLookup: nameLookup, clock: clock) { _ in
            []
        } _: { client, origin async throws in
            let url = try origin.url(host: "slow.test")
            let download = Task { await client.failure(of: url) }
            await nameLookup.questions.first { true }
            await clock.passSleep()
            #expect(await download.value == .timedOut(.lookup))
        }
    }

    @Test func `The deadline covers waiting for a slot`() async throws {
        let clock = TestClock()
        let settings = try GuardedHTTPClient.Settings.loopback { $0.maxInFlightBytes = 1 }
        try await withOrigin(settings, clock: clock) { _ in
            [.respond()]
        } _: { client, origin async throws in
            let url = try origin.url()
            // As long as its bytes are in use, nothing else is downloaded.
            let first = try await client.fetch(url)
            // The timer still sleeps until the deadline of the first download, which is over.
            await clock.passSleep()
            let second = Task { await client.failure(of: url) }
            await clock.passSleep()
            #expect(await second.value == .timedOut(.waiting))
            #expect(origin.requests.count == 1)
            withExtendedLifetime(first) {}
        }
    }

    @Test func `Connecting has a limit of its own`() async throws {
        let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let settings = try GuardedHTTPClient.Settings.loopback { $0.connectTimeout = .milliseconds(100) }
        try await withOrigin(settings) { _ in
            []
        } _: { client, _ async throws in
            let url = try SourceURL(parsing: "https://127.0.0.1:\(silent.localAddress?.port ?? 0)/")
            #expect(await client.failure(of: url) == .timedOut(.connecting))
        }
        try await silent.close()
    }

    @Test func `Cancelling the task ends the transfer`() async throws {
        try await withOrigin { _ in
            [.send("HTTP/1.1 200 OK\r\n\r\n"), .drip]
        } _: { client, origin async throws in
            let url = try origin.url()
            let download = Task { await client.failure(of: url) }
            for await _ in origin.arrivals { break }
            download.cancel()
            #expect(await download.value == .cancelled)
            for await _ in origin.hangUps { break }
        }
    }

    @Test func `Shutdown ends a running transfer`() async throws {
        try await withOrigin { _ in
            [.stall]
        } _: { client, origin async throws in
            let url = try origin.url()
            let download = Task { await client.failure(of: url) }
            for await _ in origin.arrivals { break }
            await client.shutdown()
            #expect(await download.value == .cancelled)
        }
    }

    @Test func `A host that answers no TLS is not trusted`() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { $0.pipeline.addHandler(PlainGreeting()) }
            .bind(host: "127.0.0.1", port: 0).get()
        try await withOrigin { _ in
            []
        } _: { client, _ async throws in
            let url = try SourceURL(parsing: "https://127.0.0.1:\(server.localAddress?.port ?? 0)/")
            #expect(await client.failure(of: url) == .unreachable(.tls))
        }
        try await server.close()
    }

    private final class PlainGreeting: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        func channelActive(context: ChannelHandlerContext) {
            context.channel.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"), promise: nil)
        }
    }
}
