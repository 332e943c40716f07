import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import Testing

@testable import DarkroomHTTPServer

/// The server on a real socket.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionTests {
    @Test func `A client that disconnects cancels its request`() async throws {
        let (started, reportStart) = AsyncStream<Void>.makeStream()
        let (canceled, reportCancellation) = AsyncStream<Void>.makeStream()
        try await withServer { _ throws(Problem) in
            reportStart.yield()
            await untilCancelled()
            reportCancellation.yield()
            throw .shuttingDown
        } use: { address in
            let client = try await WireClient.connected(to: address)
            try await client.send("GET /item HTTP/1.1\r\nHost: x\r\n\r\n")
            await started.first { true }
            try await client.close()
            await canceled.first { true }
        }
    }

    @Test func `A handler runs on the event loop of its connection only if its route says so, also after a wait`()
        async throws
    {
        let routes = [true, false].map { runsOnEventLoop in
            Route("/\(runsOnEventLoop)", runsOnEventLoop: runsOnEventLoop) { _, _ in
                let before = MultiThreadedEventLoopGroup.currentEventLoop != nil
                await withCheckedContinuation { continuation in
                    Thread.detachNewThread { continuation.resume() }
                }
                return .item("\([before, MultiThreadedEventLoopGroup.currentEventLoop != nil]);")
            }
        }
        try await withServer(routes: routes) { address in
            let client = try await WireClient.connected(to: address)
            for runsOnEventLoop in [true, false, true] {
                try await client.send("GET /\(runsOnEventLoop) HTTP/1.1\r\nHost: x\r\n\r\n")
                let response = await client.received(until: "];")
                #expect(response.hasSuffix("\([runsOnEventLoop, runsOnEventLoop]);"))
            }
            try await client.close()
        }
    }

    @Test func `A connection serves several requests in turn`() async throws {
        try await withServer { _ in
            .item()
        } use: { address in
            let client = try await WireClient.connected(to: address)
            for _ in 0..<3 {
                try await client.send("GET /item HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(await client.received(until: "bytes").hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
            try await client.close()
        }
    }

    @Test func `A 304 and a response to HEAD have no body`() async throws {
        try await withServer { request in
            request.headers[.ifNoneMatch] == nil ? .item() : Response(status: .notModified)
        } use: { address in
            let client = try await WireClient.connected(to: address)
            let target = "/item"
            try await client.send("GET \(target) HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n")
            let notModified = await client.received(until: "\r\n\r\n")
            #expect(notModified.hasPrefix("HTTP/1.1 304 Not Modified\r\n"))
            #expect(!notModified.lowercased().contains("content-length"))
            #expect(!notModified.lowercased().contains("transfer-encoding"))
            try await client.send("HEAD \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
            let head = await client.received(until: "\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(head.lowercased().contains("content-length: 5\r\n"))
            try await client.send("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(await client.received(until: "bytes").hasPrefix("HTTP/1.1 200 OK\r\n"))
            try await client.close()
        }
    }

    @Test func `A client that disconnects cancels the stream of its response`() async throws {
        let (started, reportStart) = AsyncStream<Void>.makeStream()
        let (canceled, reportCancellation) = AsyncStream<Void>.makeStream()
        try await withServer { _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    try await writer.write(ByteBuffer(string: "first"))
                    reportStart.yield()
                    await untilCancelled()
                    reportCancellation.yield()
                    throw CancellationError()
                })
        } use: { address in
            let client = try await WireClient.connected(to: address)
            try await client.send("GET /item HTTP/1.1\r\nHost: x\r\n\r\n")
            await started.first { true }
            try await client.close()
            await canceled.first { true }
        }
    }

    @Test func `A stream that ends does not keep the server from shutting down while its client stays`() async throws {
        let (gate, openGate) = AsyncStream<Void>.makeStream()
        try await withServer { _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    for await _ in gate {}
                    try await writer.write(ByteBuffer(string: "last"))
                    try await writer.finish(nil)
                })
        } use: { address in
            let client = try await WireClient.connected(to: address)
            try await client.send("GET /item HTTP/1.1\r\nHost: x\r\n\r\n")
            openGate.finish()
            #expect(await client.received(until: "0\r\n\r\n").contains("last"))
            // The client stays connected, so the server must close the connection.
        }
    }

    @Test func `A connection accepted during shutdown and never served is closed without a crash`()
        async throws
    {
        let site = Site(.test())
        let channel = LimitedHTTP1Channel(.test()) { site }
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel.setup(channel: $0, logger: .quiet).map { _ in } }
            .bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(listener.localAddress)
        for _ in 0..<20 {
            let client = try await WireClient.connected(to: address)
            #expect(await client.receivedAll() == "")
        }
        try await listener.close()
    }

    @Test func `A client that does not read its response does not keep the server from shutting down`() async throws {
        let (asked, reportRequest) = AsyncStream<Void>.makeStream()
        // More than socket buffers hold.
        let body = String(repeating: "x", count: 64 << 20)
        try await withServer(limits: ConnectionLimits(shutdownGrace: .milliseconds(1))) { _ in
            reportRequest.yield()
            return .item(body)
        } use: { address in
            let client = try await WireClient.connected(to: address, isReading: false)
            try await client.send("GET /item HTTP/1.1\r\nHost: x\r\n\r\n")
            await asked.first { true }
        }
    }

    @Test(arguments: [true, false], ["/picture", "/stubborn", "/post"])
    func `At the end of the grace period a request in flight is answered, and its client did not leave`(
        runsOnEventLoop: Bool, path: String
    ) async throws {
        let (started, reportStart) = AsyncStream<Void>.makeStream()
        let (answers, report) = AsyncStream<String>.makeStream()
        let log = AccessLogRecorder()
        let routes = [
            Route("/picture", runsOnEventLoop: runsOnEventLoop) { _, _ throws(Problem) in
                reportStart.yield()
                await untilCancelled()
                throw .shutDown
            },
            // It does not know why it was canceled.
            Route("/stubborn", runsOnEventLoop: runsOnEventLoop) { _, _ throws(Problem) in
                reportStart.yield()
                await untilCancelled()
                throw .internalError
            },
            Route("/post", [.post], runsOnEventLoop: runsOnEventLoop) { request, _ throws(Problem) in
                reportStart.yield()
                let body = try await request.jsonBody(upTo: 100)
                return .item(String(buffer: body))
            },
        ]
        let limits = ConnectionLimits(shutdownGrace: .milliseconds(1))
        try await withServer(routes: routes, limits: limits, log: log) { address in
            let client = try await WireClient.connected(to: address)
            let post = "Content-Type: application/json\r\nContent-Length: 9\r\n\r\nhalf"
            try await client.send(
                "\(path == "/post" ? "POST" : "GET") \(path) HTTP/1.1\r\nHost: x\r\n\(path == "/post" ? post : "\r\n")")
            await started.first { true }
            Task { report.yield(await client.receivedAll()) }
        }
        let answer = try #require(await answers.first { _ in true })
        #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"), "\(answer)")
        #expect(answer.contains("/problems/unavailable"))
        #expect(answer.contains("Connection: close\r\n"))
        let entry = try #require(log.entries.first)
        #expect(entry.status == 503 && entry.problem == "unavailable" && !entry.isDisconnected)
    }

    /// Returns when the task is canceled, and not before.
    private func untilCancelled() async {
        let (never, source) = AsyncStream<Void>.makeStream()
        await never.first { true }
        withExtendedLifetime(source) {}
    }
}
