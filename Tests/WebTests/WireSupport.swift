import DarkroomNetwork
import DarkroomOrigin
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@testable import DarkroomPipeline
@testable import DarkroomWeb

/// Runs a server on a free port while `use` goes on, and shuts it down gracefully.
func withServer(
    prefetch: PrefetchEndpoint = .idle(), limits: ConnectionLimits = ConnectionLimits(), proxies: [CIDR] = [],
    picture: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse = { _ in .stub() },
    use: @Sendable (SocketAddress) async throws -> Void
) async throws {
    let (addresses, reportAddress) = AsyncStream<SocketAddress>.makeStream()
    let logger = Logger.quiet
    let configuration = WebConfiguration(
        port: 0, adminToken: "t", clientLimits: ClientLimits(trustedProxies: proxies, connections: limits))
    let application = makeApplication(
        .idle(image: ImageEndpoint(configuration: configuration, picture: picture), prefetch: prefetch),
        configuration: configuration, logger: logger
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

/// A test's gate: whoever waits goes on once it is open.
final class Gate: Sendable {
    private let (stream, source) = AsyncStream<Void>.makeStream()

    func open() { source.finish() }

    func wait() async { for await _ in stream {} }
}

/// Raw bytes over a socket, to see what is really sent.
final class WireClient: Sendable {
    private let channel: any Channel
    private let bytes: AsyncStream<ByteBuffer>

    private init(channel: any Channel, bytes: AsyncStream<ByteBuffer>) {
        self.channel = channel
        self.bytes = bytes
    }

    static func connected(to address: SocketAddress, isReading: Bool = true) async throws -> WireClient {
        let (bytes, source) = AsyncStream<ByteBuffer>.makeStream()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: isReading)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Receiver(source))
                }
            }
            .connect(to: address).get()
        return WireClient(channel: channel, bytes: bytes)
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

    /// All that came since the last call, once the server has closed its side.
    func receivedAll() async -> String {
        var text = ""
        for await buffer in bytes { text += String(buffer: buffer) }
        return text
    }

    /// Sends what the server need not read any more.
    func trySending(_ text: String) { channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }

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

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            source.finish()
        }
    }
}
