import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import Synchronization

/// The channel handler after ``RequestLimitsHandler``: it reads each request's head and answers plain requests, at once
/// or later, and leaves all other requests, and all bodies, to the framework behind it.
///
/// A request is answered here only if it is plain, if no earlier request of the connection waits for its response, and
/// only while the client reads its responses. What the client sends before such a response is complete is held back.
/// The framework would take several times as long as all other work for a hit.
final class AnswerHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// A request that is answered here.
    private enum Answered {
        /// The answer is sent once the request has been read to the end.
        case now(Exchange, Reply)
        /// The answer is made then.
        case later(Exchange, HTTPRequestHead)
        case inProgress(Task<Void, Never>)
    }

    private let site: @Sendable () -> Site
    private let waiting: WaitingExchanges
    private let watch: ClientWatchHandler
    private let limits: RequestLimitsHandler
    private let peer: RequestHead.Peer?
    private let executor: EventLoopExecutor
    private var current: Answered?
    /// What the client has sent after the request in progress.
    private var held: [HTTPServerRequestPart] = []
    private var holdsRead = false
    private var holdsQuiescing = false
    private var hasUnflushedBytes = false
    /// Succeeds after the request in progress, whose client is gone.
    private var finished: EventLoopPromise<Void>?
    private var context: ChannelHandlerContext?

    /// The answers at once go to `watch`, past the handlers in between, and `limits` counts them.
    ///
    /// - Parameter site: returns the current site. Each request calls it once.
    init(
        _ site: @escaping @Sendable () -> Site, _ waiting: WaitingExchanges, watch: ClientWatchHandler,
        limits: RequestLimitsHandler, peer: RequestHead.Peer?, on executor: EventLoopExecutor
    ) {
        self.site = site
        self.waiting = waiting
        self.watch = watch
        self.limits = limits
        self.peer = peer
        self.executor = executor
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        if case .inProgress(let task) = current { task.cancel() }
        finished.take()?.succeed()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        receive(unwrapInboundIn(data), context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if hasUnflushedBytes {
            hasUnflushedBytes = false
            watch.flush()
        }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        holdsRead = !held.isEmpty
        if !holdsRead { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The framework would close a connection that it believes to be idle.
        if event is ChannelShouldQuiesceEvent, case .inProgress = current {
            holdsQuiescing = true
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Cancels the request in progress, because its client is gone or the grace period of a shutdown is over.
    ///
    /// - Returns: succeeds once it is answered.
    func cancel(on loop: any EventLoop) -> EventLoopFuture<Void> {
        guard context != nil, case .inProgress(let task) = current else { return loop.makeSucceededVoidFuture() }
        task.cancel()
        let promise = loop.makePromise(of: Void.self)
        finished = promise
        return promise.futureResult
    }

    private func receive(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        if case .inProgress = current { return held.append(part) }
        switch part {
        case .head(let head):
            var exchange = Exchange(site(), RequestHead(head, from: peer))
            if exchange.head.isPlain, limits.awaitsOneResponse, context.channel.isWritable {
                current = exchange.replyNow().map { .now(exchange, $0) } ?? .later(exchange, head)
            } else {
                waiting.append(exchange)
                context.fireChannelRead(wrapInboundOut(part))
            }
        case .body: context.fireChannelRead(wrapInboundOut(part))
        case .end:
            switch current.take() {
            case .now(let exchange, let reply):
                watch.write(exchange.finish(reply, context.channel.allocator))
                if exchange.head.method != .head, reply.body.readableBytes > 0 { watch.write(reply.body) }
                hasUnflushedBytes = true
                limits.recordResponse()
            case .later(let exchange, let head): answer(exchange, head, context.channel)
            case .inProgress, nil: context.fireChannelRead(wrapInboundOut(part))
            }
        }
    }

    // MARK: Later

    private func answer(_ exchange: Exchange, _ head: HTTPRequestHead, _ channel: any Channel) {
        let this = NIOLoopBound(self, eventLoop: channel.eventLoop)
        let task = Task(executorPreference: executor) {
            do {
                let request = Request(
                    head: try HTTPRequest(head, secure: false, splitCookie: false),
                    body: RequestBody(buffer: ByteBuffer()))
                let response = await exchange.response(to: request, channel)
                try await response.body.write(try await AnswerWriter(response, this))
            } catch {
                // The response cannot be completed.
                channel.close(promise: nil)
            }
        }
        current = .inProgress(task)
    }

    /// Sends parts of the response in progress.
    ///
    /// - Returns: succeeds once the client has taken enough of them; nil if it reads fast enough.
    /// - Throws: if the client is gone, so that no more of the body is read.
    func send(_ parts: [HTTPServerResponsePart]) throws -> EventLoopFuture<Void>? {
        guard let context else { throw ChannelError.ioOnClosedChannel }
        guard let last = parts.last else { return nil }
        for part in parts.dropLast() { context.write(wrapOutboundOut(part), promise: nil) }
        let sent = context.writeAndFlush(wrapOutboundOut(last))
        if case .end = last {
            proceed()
            return nil
        }
        return context.channel.isWritable ? nil : sent
    }

    /// Continues with what the client has sent meanwhile.
    private func proceed() {
        current = nil
        finished.take()?.succeed()
        let parts = held
        held = []
        guard let context else { return }
        for part in parts { receive(part, context) }
        if !parts.isEmpty { channelReadComplete(context: context) }
        if holdsRead { read(context: context) }
        if holdsQuiescing {
            holdsQuiescing = false
            userInboundEventTriggered(context: context, event: ChannelShouldQuiesceEvent())
        }
    }
}

/// Writes a response that was made later: its head along with the first bytes of the body, and the last of them along
/// with the end.
private struct AnswerWriter: ResponseBodyWriter {
    private let handler: NIOLoopBound<AnswerHandler>
    private var parts: [HTTPServerResponsePart]
    /// Whether the body is a stream of events, each of which is sent at once.
    private let isStream: Bool

    init(_ response: Response, _ handler: NIOLoopBound<AnswerHandler>) async throws {
        self.handler = handler
        parts = [.head(HTTPResponseHead(response.head))]
        isStream = response.body.contentLength == nil
        if isStream { try await send() }
    }

    mutating func write(_ buffer: ByteBuffer) async throws {
        if parts.contains(where: \.isBody) { try await send() }
        parts.append(.body(.byteBuffer(buffer)))
        if isStream { try await send() }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        parts.append(.end(trailingHeaders.map { HTTPHeaders($0) }))
        try await send()
    }

    private mutating func send() async throws {
        let parts = parts
        self.parts.removeAll()
        let loop = handler.eventLoop
        let sent = try await loop.submit { [handler] in try handler.value.send(parts) }.get()
        try await sent?.get()
    }
}

extension HTTPServerResponsePart {
    fileprivate var isBody: Bool { if case .body = self { true } else { false } }
}

/// The requests of a connection that the framework has to answer, in their order.
final class WaitingExchanges: Sendable {
    private let exchanges = Mutex<[Exchange]>([])

    func append(_ exchange: Exchange) { exchanges.withLock { $0.append(exchange) } }

    /// The oldest request, which the framework has read.
    func next() -> Exchange? { exchanges.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
