import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import DarkroomHTTPServer

/// When a connection is closed for what its client does not send, by a clock of the test's own.
struct RequestTimeoutTests {
    private static let limits = ConnectionLimits(
        headerTimeout: .seconds(10), bodyTimeout: .seconds(20), idleTimeout: .seconds(30))
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    /// A connection whose requests are answered at once.
    private static func connection() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let watch = ClientWatchHandler(
            channel.eventLoop.makePromise(), limits: limits, state: ServerState())
        let limits = RequestLimitsHandler(watch: watch, limits: limits, now: channel.eventLoop.now) { _ in [] }
        try channel.pipeline.syncOperations.addHandlers([
            watch, HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()), limits, Answerer(),
        ])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    @Test func `A connection between two requests may be idle for the idle timeout, not the header timeout`() throws {
        let channel = try Self.connection()
        for _ in 0..<3 {
            try channel.writeInbound(ByteBuffer(string: Self.request))
            channel.embeddedEventLoop.advanceTime(by: .seconds(29))
            #expect(channel.isActive)
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `The header timeout begins with the first byte of a request, also of one behind another`() throws {
        for beginning in ["GET", Self.request + "GET / HT"] {
            let channel = try Self.connection()
            try channel.writeInbound(ByteBuffer(string: Self.request))
            channel.embeddedEventLoop.advanceTime(by: .seconds(29))
            try channel.writeInbound(ByteBuffer(string: beginning))
            try channel.writeInbound(ByteBuffer(string: beginning == "GET" ? " " : "TP"))
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            #expect(channel.isActive)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    @Test func `A connection without a request is closed after the header timeout`() throws {
        let channel = try Self.connection()
        try channel.writeInbound(ByteBuffer(string: "G"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }
}

/// Answers each request with an empty response.
private final class Answerer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
