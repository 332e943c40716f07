import NIOCore
import NIOHTTP1
import NIOSSL

/// Reads responses with ``ResponseParser``, in place of NIO's decoder, and closes the connection after a response that
/// had to be repaired.
final class ResponseReader: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The response that is due; nil between requests.
    private var parser: ResponseParser?
    private var isClosing = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // A request that is written while the connection closes fails with it.
        guard !isClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if case .head(let head) = unwrapOutboundIn(data) { parser = ResponseParser(isHEAD: head.method == .HEAD) }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Nothing was requested, so the bytes answer no request.
        guard !isClosing, parser != nil else { return close(context) }
        var parts: [HTTPClientResponsePart] = []
        let result = Result { () throws(ResponseParser.Failure) in
            try parser?.read(unwrapInboundIn(data), into: &parts)
        }
        if let parser, parser.isOver {
            isClosing = !parser.keepsConnection
            self.parser = nil
        }
        pass(on: parts, result, context)
        if isClosing { close(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        var parts: [HTTPClientResponsePart] = []
        let result = Result { () throws(ResponseParser.Failure) in try parser?.readEnd(into: &parts) }
        parser = nil
        pass(on: parts, result, context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A peer that ends TLS without saying so may have been cut off. The decoder shows whether the image is whole.
        if case .uncleanShutdown? = error as? NIOSSLError, parser?.mayEndHere == true { return }
        context.fireErrorCaught(error)
    }

    private func pass(
        on parts: [HTTPClientResponsePart], _ result: Result<Void?, ResponseParser.Failure>,
        _ context: ChannelHandlerContext
    ) {
        for part in parts { context.fireChannelRead(wrapInboundOut(part)) }
        guard case .failure(let failure) = result else { return }
        parser = nil
        isClosing = true
        context.fireErrorCaught(failure)
    }

    private func close(_ context: ChannelHandlerContext) {
        isClosing = true
        context.close(promise: nil)
    }
}
