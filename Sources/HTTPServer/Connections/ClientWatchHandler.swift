import NIOCore

/// The channel handler next to the socket: it detects that the client is gone, closes the connection in a way that lets
/// pending responses arrive, and disconnects clients that do not read their response.
final class ClientWatchHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The number of bytes of the request line received since ``beginRequest()``.
    private(set) var requestLineBytes = 0
    private var hasReadRequestLine = false
    /// Whether the connection keeps reading for a moment when it closes. If the client is still sending, closing at
    /// once can make its TCP stack discard our last response (RFC 9112 §9.6).
    var lingers = false

    private var context: ChannelHandlerContext?
    private var clientGone: EventLoopPromise<Void>?
    private let limits: ConnectionLimits
    private let state: ServerState
    private var isClosing = false
    private var isLingering = false
    private var isInputClosed = false
    private var writtenBytes = 0
    /// Scheduled while response bytes wait for the client.
    private var writeTimeout: Scheduled<Void>?

    /// How long a connection lingers.
    private static let lingerTime = TimeAmount.seconds(1)

    /// - Parameters:
    ///   - clientGone: succeeds when the client has closed its side, the connection is closed, or the grace period of a
    ///     shutdown is over.
    ///   - state: is told that the grace period is over.
    init(_ clientGone: EventLoopPromise<Void>, limits: ConnectionLimits, state: ServerState) {
        self.clientGone = clientGone
        self.limits = limits
        self.state = state
    }

    /// Starts counting the bytes of the next request line.
    func beginRequest() { (requestLineBytes, hasReadRequestLine) = (0, false) }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        if !hasReadRequestLine { countRequestLine(unwrapInboundIn(data).readableBytesView) }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if isLingering { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            isInputClosed = true
            reportClientGone()
            if isLingering { context.close(promise: nil) }
        }
        if event is ChannelShouldQuiesceEvent { close(after: TimeAmount(limits.shutdownGrace), context) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        reportClientGone()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        writeTimeout?.cancel()
        reportClientGone()
        self.context = nil
    }

    /// Writes encoded bytes, past all other handlers.
    func write(_ bytes: ByteBuffer) {
        writtenBytes += bytes.readableBytes
        context?.write(wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
    }

    /// Sends the written bytes.
    func flush() {
        if let context { flush(context: context) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        writtenBytes += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        if writeTimeout == nil { scheduleWriteTimeout(context) }
    }

    /// Closes the connection after all pending responses have been written.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all else { return context.close(mode: mode, promise: promise) }
        context.channel.closeFuture.cascade(to: promise)
        guard !isClosing else { return }
        isClosing = true
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer()))).assumeIsolated().whenComplete { _ in
            self.closeOutput(context)
        }
        if writeTimeout == nil { scheduleWriteTimeout(context) }
    }

    private func countRequestLine(_ bytes: ByteBufferView) {
        let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        hasReadRequestLine = end != nil
        requestLineBytes += (end ?? bytes.endIndex) - bytes.startIndex
    }

    private func reportClientGone() {
        clientGone?.succeed()
        clientGone = nil
    }

    /// Closes the connection. When it lingers, closes the sending side first and reads until the client closes its own.
    private func closeOutput(_ context: ChannelHandlerContext) {
        guard lingers, !isInputClosed else { return context.close(promise: nil) }
        isLingering = true
        context.close(mode: .output, promise: nil)
        context.read()
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingerTime) { context.close(promise: nil) }
    }

    /// Closes the connection when the client accepts no byte of a pending response within `writeTimeout`.
    private func scheduleWriteTimeout(_ context: ChannelHandlerContext) {
        let pending = pendingBytes(context)
        writeTimeout = nil
        guard pending > 0 else { return }
        let acceptedBefore = writtenBytes - pending
        writeTimeout = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.writeTimeout)) {
            let pending = self.pendingBytes(context)
            guard pending == 0 || self.writtenBytes - pending > acceptedBefore else {
                return context.close(promise: nil)
            }
            self.scheduleWriteTimeout(context)
        }
    }

    /// The number of bytes that the kernel has not accepted yet.
    private func pendingBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Cancels in-flight requests after the grace period, and closes the connection a moment later. In between, they
    /// are answered with ``Problem/shutDown``.
    private func close(after grace: TimeAmount, _ context: ChannelHandlerContext) {
        let loop = context.eventLoop.assumeIsolated()
        loop.scheduleTask(in: grace) {
            self.state.endGrace()
            self.reportClientGone()
            loop.scheduleTask(in: Self.lingerTime) { context.close(promise: nil) }
        }
    }
}
