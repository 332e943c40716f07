import NIOCore
import NIOHTTP1

/// Ends a connection whose server answers with a status that HTTP does not have, or switches to another protocol unasked.
///
/// The HTTP client takes every status below 200 for an interim one. The parser sends an end after some of them, and at that
/// the client would end the whole process.
final class StatusGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private var isOver = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 || head.status.code == 101 {
            isOver = true
            context.fireErrorCaught(HTTPParserError.invalidStatus)
            context.close(promise: nil)
        } else {
            context.fireChannelRead(data)
        }
    }

    /// Puts a guard between the parser of responses and whoever reads them.
    static func install(on channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(StatusGuard(), position: .after(parser))
        }
    }
}
