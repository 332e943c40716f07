import NIOCore
import NIOPosix

/// A client that sends and receives raw bytes over a socket.
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

    /// The text received since the last call, up to and including the first read that ends in `end`.
    func received(until end: String) async -> String {
        var text = ""
        for await buffer in bytes {
            text += String(buffer: buffer)
            if text.hasSuffix(end) { break }
        }
        return text
    }

    /// The text received since the last call, after the server has closed its side.
    func receivedAll() async -> String {
        var text = ""
        for await buffer in bytes { text += String(buffer: buffer) }
        return text
    }

    /// Reads until there are so many bytes, or the server has closed its side.
    /// - Returns: the number of bytes.
    func received(atLeast count: Int) async -> Int {
        try? await channel.setOption(.autoRead, value: true).get()
        var received = 0
        for await buffer in bytes {
            received += buffer.readableBytes
            if received >= count { break }
        }
        return received
    }

    /// Sends text that the server may no longer read.
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
