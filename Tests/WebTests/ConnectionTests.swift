import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@testable import Pipeline
@testable import Web

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
            let client = try await Client.connected(to: address)
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
            let client = try await Client.connected(to: address)
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
            let client = try await Client.connected(to: address)
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
            let client = try await Client.connected(to: address)
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
            let client = try await Client.connected(to: address)
            try await client.send(Self.events(of: job))
            while job.watcherCount == 0 { await Task.yield() }
            prefetcher.shutdown()
            let text = await client.received(until: "0\r\n\r\n")
            #expect(text.contains("event: end\ndata: "))
            // It stays open: the server is what closes it.
        }
    }

    @Test func `a client that takes nothing of its answer does not keep the server from ending`() async throws {
        let (asked, reportRequest) = AsyncStream<Void>.makeStream()
        // More than the system takes on its way.
        let body = String(repeating: "x", count: 64 << 20)
        try await withServer(lastGrace: .milliseconds(1)) { _ in
            reportRequest.yield()
            return .stub(body: body)
        } use: { address in
            let client = try await Client.connected(to: address, isReading: false)
            try await client.send("GET /image?url=https://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n")
            await asked.first { true }
        }
    }

    private static func events(of job: PrefetchJob) -> String {
        "GET /prefetch/\(job.id)/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n\r\n"
    }

    /// Runs a server on a free port while `use` goes on, and shuts it down gracefully.
    private func withServer(
        prefetch: PrefetchEndpoint = .idle(), lastGrace: TimeAmount = .seconds(20),
        picture: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse = { _ in .stub() },
        use: @Sendable (SocketAddress) async throws -> Void
    ) async throws {
        let (addresses, reportAddress) = AsyncStream<SocketAddress>.makeStream()
        let logger = Logger.quiet
        let configuration = WebConfiguration(port: 0, adminToken: "t")
        let application = makeApplication(
            .idle(image: ImageEndpoint(configuration: configuration, picture: picture), prefetch: prefetch),
            configuration: configuration, logger: logger, lastGrace: lastGrace
        ) { channel in
            if let address = channel.localAddress { reportAddress.yield(address) }
        }
        let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let address = try #require(await addresses.first { _ in true })
            try await use(address)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// Returns when the task is cancelled, and not before.
    private func untilCancelled() async {
        let (never, source) = AsyncStream<Void>.makeStream()
        await never.first { true }
        withExtendedLifetime(source) {}
    }
}

/// Raw bytes over a socket, to see what is really sent.
private final class Client: Sendable {
    private let channel: any Channel
    private let bytes: AsyncStream<ByteBuffer>

    private init(channel: any Channel, bytes: AsyncStream<ByteBuffer>) {
        self.channel = channel
        self.bytes = bytes
    }

    static func connected(to address: SocketAddress, isReading: Bool = true) async throws -> Client {
        let (bytes, source) = AsyncStream<ByteBuffer>.makeStream()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: isReading)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Receiver(source))
                }
            }
            .connect(to: address).get()
        return Client(channel: channel, bytes: bytes)
    }

    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    /// What came since the last call, up to and with the first read that ends in `end`.
    func received(until end: String) async -> String {
        var text = ""
        for await buffer in bytes {
            text += String(buffer: buffer)
            if text.hasSuffix(end) { break }
        }
        return text
    }

    func close() async throws {
        try await channel.close()
    }

    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let source: AsyncStream<ByteBuffer>.Continuation

        init(_ source: AsyncStream<ByteBuffer>.Continuation) {
            self.source = source
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            source.yield(unwrapInboundIn(data))
        }

        func channelInactive(context: ChannelHandlerContext) {
            source.finish()
        }
    }
}
