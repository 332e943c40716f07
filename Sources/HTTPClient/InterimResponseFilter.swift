import NIOCore
import NIOHTTP1

/// Closes a connection whose server sends a status below 100, or switches protocols without being asked.
///
/// The HTTP client considers every status below 200 an interim response. The parser sends an end after some of them,
/// which stops the whole process in the client.
final class InterimResponseFilter: ChannelInboundHandler {
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
