package import NIOCore
import NIOHTTP1

/// Closes a connection whose server sends a status below 100, or switches protocols without being asked.
///
/// The HTTP client considers every status below 200 an interim response. The parser sends an end after some of them,
/// which stops the whole process in the client.
package enum InterimResponseFilter {
    /// Adds the filter behind the response parser of a connection.
    @Sendable package static func install(on channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(Handler(), position: .after(parser))
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias InboundOut = HTTPClientResponsePart

        private var isClosed = false

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isClosed else { return }
            if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 || head.status.code == 101 {
                isClosed = true
                context.fireErrorCaught(HTTPParserError.invalidStatus)
                context.close(promise: nil)
            } else {
                context.fireChannelRead(data)
            }
        }
    }
}
