import NIOCore

/// The handler next to the socket: it tells when the client is gone, closes in a way that lets answers arrive, and cuts off who does not take them.
final class ConnectionWatch: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The bytes of the first line that has come since ``beginHead()``.
    private(set) var lineBytes = 0
    private var hasReadLine = false
    /// Whether what a client still sends is read for a moment when the connection ends: else its system may throw away our last answer
    /// (RFC 9112 §9.6).
    var lingers = false

    private var gone: EventLoopPromise<Void>?
    private let limits: ConnectionLimits
    private var isClosing = false
    private var isLingering = false
    private var isInputClosed = false
    private var writtenBytes = 0
    /// Runs while something waits for the client.
    private var patience: Scheduled<Void>?

    /// How long a connection lingers.
    private static let lingering = TimeAmount.seconds(1)

    /// - Parameter gone: succeeds when the client has closed its side, the whole connection is closed, or the server's last grace is over.
    init(_ gone: EventLoopPromise<Void>, limits: ConnectionLimits) {
        self.gone = gone
        self.limits = limits
    }

    /// A request's head comes next.
    func beginHead() { (lineBytes, hasReadLine) = (0, false) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        if !hasReadLine { measureLine(unwrapInboundIn(data).readableBytesView) }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if isLingering { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            isInputClosed = true
            noteGone()
            if isLingering { context.close(promise: nil) }
        }
        if event is ChannelShouldQuiesceEvent { end(after: TimeAmount(limits.shutdownGrace), context) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        noteGone()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        patience?.cancel()
        noteGone()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        writtenBytes += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        if patience == nil { waitForClient(context) }
    }

    /// Whoever closes the connection does so once all answers have gone out.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all else { return context.close(mode: mode, promise: promise) }
        context.channel.closeFuture.cascade(to: promise)
        guard !isClosing else { return }
        isClosing = true
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer()))).assumeIsolated().whenComplete { _ in
            self.endOutput(context)
        }
        if patience == nil { waitForClient(context) }
    }

    private func measureLine(_ bytes: ByteBufferView) {
        let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        hasReadLine = end != nil
        lineBytes += (end ?? bytes.endIndex) - bytes.startIndex
    }

    private func noteGone() {
        gone?.succeed()
        gone = nil
    }

    /// Closes the connection, or sends the end of our side alone and reads on until the end of theirs.
    private func endOutput(_ context: ChannelHandlerContext) {
        guard lingers, !isInputClosed else { return context.close(promise: nil) }
        isLingering = true
        context.close(mode: .output, promise: nil)
        context.read()
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { context.close(promise: nil) }
    }

    /// Closes the connection if the client takes nothing of what waits for it in a whole `writeTimeout`.
    private func waitForClient(_ context: ChannelHandlerContext) {
        let held = heldBytes(context)
        patience = nil
        guard held > 0 else { return }
        let takenBefore = writtenBytes - held
        patience = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.writeTimeout)) {
            let held = self.heldBytes(context)
            guard held == 0 || self.writtenBytes - held > takenBefore else { return context.close(promise: nil) }
            self.waitForClient(context)
        }
    }

    /// Bytes that the system has not taken yet.
    private func heldBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Ends requests that are under way after a while, and a moment later the connection.
    private func end(after grace: TimeAmount, _ context: ChannelHandlerContext) {
        let loop = context.eventLoop.assumeIsolated()
        loop.scheduleTask(in: grace) {
            self.noteGone()
            loop.scheduleTask(in: Self.lingering) { context.close(promise: nil) }
        }
    }
}
