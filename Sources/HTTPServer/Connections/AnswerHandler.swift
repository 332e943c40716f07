import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization

/// The channel handler after ``RequestLimitsHandler``: it reads each request's head, sends what can be answered at
/// once, and leaves all other requests, and all bodies, to the framework behind it.
///
/// A request is answered here only if it is plain, if no earlier request of the connection waits for its response, and
/// only while the client reads its responses. The framework would take several times as long as all other work for a
/// hit.
final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let site: @Sendable () -> Site
    private let waiting: WaitingExchanges
    private let watch: ClientWatchHandler
    private let limits: RequestLimitsHandler
    private let peer: RequestHead.Peer?
    /// The answer that is sent once its request has been read to the end.
    private var prepared: (exchange: Exchange, answer: Exchange.Prepared)?
    private var hasUnflushedBytes = false

    /// The answers go to `watch`, past the handlers in between, and `limits` counts them.
    ///
    /// - Parameter site: returns the current site. Each request calls it once.
    init(
        _ site: @escaping @Sendable () -> Site, _ waiting: WaitingExchanges, watch: ClientWatchHandler,
        limits: RequestLimitsHandler, peer: RequestHead.Peer?
    ) {
        self.site = site
        self.waiting = waiting
        self.watch = watch
        self.limits = limits
        self.peer = peer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            var exchange = Exchange(site(), RequestHead(head, from: peer))
            if exchange.head.isPlain, limits.awaitsOneResponse, context.channel.isWritable,
                let answer = exchange.prepared()
            {
                prepared = (exchange, answer)
            } else {
                waiting.append(exchange)
                context.fireChannelRead(data)
            }
        case .end:
            guard let (exchange, answer) = prepared.take() else { return context.fireChannelRead(data) }
            watch.write(exchange.finish(answer, context.channel.allocator))
            if exchange.head.method != .head, answer.body.readableBytes > 0 { watch.write(answer.body) }
            hasUnflushedBytes = true
            limits.recordResponse()
        case .body: context.fireChannelRead(data)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if hasUnflushedBytes {
            hasUnflushedBytes = false
            watch.flush()
        }
        context.fireChannelReadComplete()
    }
}

/// The requests of a connection that the framework has to answer, in their order.
final class WaitingExchanges: Sendable {
    private let exchanges = Mutex<[Exchange]>([])

    func append(_ exchange: Exchange) { exchanges.withLock { $0.append(exchange) } }

    /// The oldest request, which the framework has read.
    func next() -> Exchange? { exchanges.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
