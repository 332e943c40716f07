import CoreMetrics
import Hummingbird
import NIOCore
import NIOPosix
import Testing

@testable import DarkroomPipeline
@testable import DarkroomWeb

/// The server on a real socket: what only a connection can show.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionTests {
    @Test func `a client that disconnects cancels the wait for its picture`() async throws {
        let (started, reportStart) = AsyncStream<Void>.makeStream()
        let (cancelled, reportCancellation) = AsyncStream<Void>.makeStream()
        try await withServer { _ throws(PipelineError) in
            reportStart.yield()
            await untilCancelled()
            reportCancellation.yield()
            throw .cancelled
        } use: { address in
            let client = try await WireClient.connected(to: address)
            try await client.send("GET /image?url=https://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n")
            await started.first { true }
            try await client.close()
            await cancelled.first { true }
        }
    }

    @Test func `a connection serves one request after the other`() async throws {
        try await withServer { _ in
            .stub()
        } use: { address in
            let client = try await WireClient.connected(to: address)
            for _ in 0..<3 {
                try await client.send("GET /image?url=https://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(await client.received(until: "bytes").hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
            try await client.close()
        }
    }

    @Test func `a 304 and a HEAD leave nothing behind that the next answer could be mistaken for`() async throws {
        try await withServer { _ in
            .stub()
        } use: { address in
            let client = try await WireClient.connected(to: address)
            let target = "/image?url=https://example.com/"
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

    @Test func `a client that leaves a job's events frees the stream, and the job goes on`() async throws {
        let prefetcher = Prefetcher.held
        let job = try prefetcher.start([try ImageRequest(url: "https://a.org/")])
        try await withServer(prefetch: PrefetchEndpoint(prefetcher)) { address in
            let client = try await WireClient.connected(to: address)
            try await client.send(Self.events(of: job))
            while job.watcherCount == 0 { await Task.yield() }
            try await client.close()
            while job.watcherCount > 0 { await Task.yield() }
            #expect(job.progress.state == .running)
        }
        prefetcher.shutdown()
    }

    @Test func `jobs that end with the server end their streams, so that it need not wait for the readers`()
        async throws
    {
        let prefetcher = Prefetcher.held
        let job = try prefetcher.start([try ImageRequest(url: "https://a.org/")])
        try await withServer(prefetch: PrefetchEndpoint(prefetcher)) { address in
            let client = try await WireClient.connected(to: address)
            try await client.send(Self.events(of: job))
            while job.watcherCount == 0 { await Task.yield() }
            prefetcher.shutdown()
            let text = await client.received(until: "0\r\n\r\n")
            #expect(text.contains("event: end\ndata: "))
            // It stays open: the server is what closes it.
        }
    }

    @Test func `a connection that nobody serves, since the server goes down just then, is closed and nothing worse`()
        async throws
    {
        let channel = LimitedHTTP1Channel(
            responder: { _, _, _ in }, configuration: WebConfiguration(),
            meter: RequestMetrics(NOOPMetricsHandler.instance))
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

    @Test func `a client that takes nothing of its answer does not keep the server from ending`() async throws {
        let (asked, reportRequest) = AsyncStream<Void>.makeStream()
        // More than the system takes on its way.
        let body = String(repeating: "x", count: 64 << 20)
        try await withServer(limits: ConnectionLimits(shutdownGrace: .milliseconds(1))) { _ in
            reportRequest.yield()
            return .stub(body: body)
        } use: { address in
            let client = try await WireClient.connected(to: address, isReading: false)
            try await client.send("GET /image?url=https://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n")
            await asked.first { true }
        }
    }

    private static func events(of job: PrefetchJob) -> String {
        "GET /prefetch/\(job.id)/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n\r\n"
    }

    /// Returns when the task is cancelled, and not before.
    private func untilCancelled() async {
        let (never, source) = AsyncStream<Void>.makeStream()
        await never.first { true }
        withExtendedLifetime(source) {}
    }
}
