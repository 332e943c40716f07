import NIOCore

/// The channel handler next to the socket: it detects that the client is gone, closes the connection in a way that lets
/// pending responses arrive, and disconnects clients that read their response too slowly.
///
/// All responses pass here, from the framework and in front of it.
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
    private let slowReaders: SlowReaders
    /// The bytes that the kernel has not accepted yet.
    private let pendingBytes: (any Channel) -> Int
    private var isClosing = false
    private var isLingering = false
    private var isInputClosed = false
    private var writtenBytes = 0
    /// The large buffers that the kernel may not have taken yet, each with the number of bytes written up to its end.
    private var unsent: [(buffer: UnsentBytes.Buffer, end: Int)] = []
    /// What is known of the client while it reads slowly; nil until bytes first wait for it.
    private var reading: Reading?

    /// A client that has let response bytes wait.
    private struct Reading {
        let reader: UnsentBytes.Reader
        let startedAt: NIODeadline
        var allowance: ReadAllowance
        /// The bytes that the kernel had accepted at the last measurement.
        var acceptedBytes: Int
        /// Whether bytes wait; then a measurement is scheduled.
        var isWaiting = false
        /// Whether a measurement follows once the kernel has taken the bytes written so far.
        var isMarked = false
        var next: Scheduled<Void>?
    }

    /// How long a connection lingers.
    private static let lingerTime = TimeAmount.seconds(1)
    /// The smallest buffer that counts for the budget. Smaller buffers need no account: no more than about 64 KiB of
    /// them wait, because nothing is written to a channel that has more.
    private static let minUnsentBytes = 16 << 10
    /// The time between measurements of a client for which bytes wait.
    private static let measuringInterval = TimeAmount.seconds(2)

    /// - Parameters:
    ///   - clientGone: succeeds when the client has closed its side, the connection is closed, or the grace period of a
    ///     shutdown is over.
    ///   - state: is told that the grace period is over.
    ///   - pendingBytes: the bytes that the kernel has not accepted yet, of the channel.
    init(
        _ clientGone: EventLoopPromise<Void>, limits: ConnectionLimits, state: ServerState,
        slowReaders: SlowReaders = SlowReaders(),
        pendingBytes: @escaping (any Channel) -> Int = {
            (try? $0.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        }
    ) {
        self.clientGone = clientGone
        self.limits = limits
        self.state = state
        self.slowReaders = slowReaders
        self.pendingBytes = pendingBytes
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
        stopReading()
        reading = nil
        reportClientGone()
        self.context = nil
    }

    /// Writes encoded bytes, past all other handlers.
    func write(_ bytes: ByteBuffer) {
        count(bytes)
        context?.write(wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
    }

    /// Sends the written bytes.
    func flush() {
        if let context { flush(context: context) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .byteBuffer(let bytes): count(bytes)
        case .fileRegion(let region): writtenBytes += region.readableBytes
        }
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        measure(context)
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
        measure(context)
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

    // MARK: Slow clients

    private func count(_ bytes: ByteBuffer) {
        writtenBytes += bytes.readableBytes
        if bytes.readableBytes >= Self.minUnsentBytes { unsent.append((UnsentBytes.Buffer(bytes), writtenBytes)) }
    }

    /// Measures how far the client has read, and disconnects it if it is out of time. Nothing else happens if the
    /// kernel takes all bytes at once, as it does for most responses.
    private func measure(_ context: ChannelHandlerContext) {
        let pending = pendingBytes(context.channel)
        guard pending > 0 || reading?.isWaiting == true else {
            if !unsent.isEmpty { unsent.removeAll(keepingCapacity: true) }
            return
        }
        let (accepted, now) = (writtenBytes - pending, context.eventLoop.now)
        var reading = reading ?? newReading(at: now, context)
        reading.allowance.update(taken: accepted - reading.acceptedBytes, isWaiting: pending > 0, at: now)
        (reading.acceptedBytes, reading.isWaiting) = (accepted, pending > 0)
        self.reading = reading
        unsent.removeAll { $0.end <= accepted }
        guard pending > 0 else { return stopReading() }
        guard reading.allowance.deadline > now else { return disconnect(.rate) }
        // A response that has just begun must not be the slowest of a client, before it could be read.
        let hasBegun = now - reading.startedAt < Self.measuringInterval
        let deadline = hasBegun ? now + 2 * TimeAmount(limits.writeTimeout) : reading.allowance.deadline
        slowReaders.unsent.update(reading.reader, holding: unsent.map(\.buffer), until: deadline)
        scheduleMeasurements(context)
    }

    private func newReading(at now: NIODeadline, _ context: ChannelHandlerContext) -> Reading {
        let (loop, this) = (context.eventLoop, NIOLoopBound(self, eventLoop: context.eventLoop))
        let reader = UnsentBytes.Reader(client: slowReaders.client) {
            loop.execute { this.value.disconnect(.budget) }
        }
        let allowance = ReadAllowance(
            limit: TimeAmount(limits.writeTimeout), bytesPerSecond: ConnectionLimits.minReadRate, at: now)
        return Reading(reader: reader, startedAt: now, allowance: allowance, acceptedBytes: 0)
    }

    /// Measures again once the kernel has taken the bytes written so far, and after a while.
    private func scheduleMeasurements(_ context: ChannelHandlerContext) {
        if let reading, !reading.isMarked {
            self.reading?.isMarked = true
            context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer()))).assumeIsolated().whenComplete { _ in
                self.reading?.isMarked = false
                if self.context != nil { self.measure(context) }
            }
        }
        guard let reading, reading.isWaiting, reading.next == nil else { return }
        let time = min(reading.allowance.deadline, context.eventLoop.now + Self.measuringInterval)
        self.reading?.next = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) {
            self.reading?.next = nil
            self.measure(context)
        }
    }

    /// Ends the measurements until bytes wait again.
    private func stopReading() {
        guard let reading else { return }
        reading.next?.cancel()
        self.reading?.next = nil
        slowReaders.unsent.remove(reading.reader)
    }

    private func disconnect(_ reason: SlowReaders.Reason) {
        guard let context, reading?.isWaiting == true else { return }
        slowReaders.report(reason, pendingBytes(context.channel))
        context.close(promise: nil)
    }
}

/// What happens to clients that read too slowly.
struct SlowReaders {
    /// Why a client was disconnected.
    enum Reason: String, CaseIterable {
        /// Its allowance was used up.
        case rate
        /// It read more slowly than others when the budget was exceeded.
        case budget
    }

    var unsent = UnsentBytes()
    /// The name of the connection's client; nil if it is unknown, or a proxy for several clients.
    var client: String?
    /// Called when a client is disconnected.
    var report: (_ reason: Reason, _ pendingBytes: Int) -> Void = { _, _ in }
}
