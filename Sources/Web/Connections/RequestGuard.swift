import NIOCore
import NIOHTTP1

/// The handler behind the parser: it gives clients a time for each part of a request, bounds how many they send ahead, and answers what is no
/// request with a problem, in its turn.
final class RequestGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let watch: ConnectionWatch
    private let limits: ConnectionLimits
    private let answerTo: (Problem) -> [HTTPServerResponsePart]
    private var exchange: Exchange
    /// Whether no further request is taken: the connection ends with the answers that are owed.
    private var isDeaf = false
    /// Whether that is so from the end of the request that is being read.
    private var isLastRequest = false
    /// The last answer, if that is ours.
    private var refusal: Problem?
    private var alarm: (task: Scheduled<Void>, at: NIODeadline)?

    /// - Parameter answer: the answer to what is refused here; asked once for each, since nobody else sees them.
    init(
        watch: ConnectionWatch, limits: ConnectionLimits, now: NIODeadline,
        answer: @escaping (Problem) -> [HTTPServerResponsePart]
    ) {
        self.watch = watch
        self.limits = limits
        answerTo = answer
        exchange = Exchange(at: now)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        setAlarm(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm?.task.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDeaf else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard exchange.unanswered < ConnectionLimits.maxPipelinedRequests else { return fallSilent() }
            if let problem = Problem(malformed: head) { return refuse(problem, context) }
            isLastRequest = head.endsConnection
            exchange.noteHead(at: context.eventLoop.now)
        case .body: break
        case .end:
            exchange.noteEnd(at: context.eventLoop.now)
            watch.beginHead()
            isDeaf = isLastRequest
        }
        context.fireChannelRead(data)
        setAlarm(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !isDeaf {
            exchange.noteBytes(at: context.eventLoop.now)
            setAlarm(context)
        }
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            if exchange.isReadingBody { isLastRequest = true } else { isDeaf = true }
            endIfDone(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        guard !isDeaf else { return }
        if case .invalidEOFState = error { return context.fireErrorCaught(error) }
        guard !exchange.isReadingBody else { return breakOff(error, context) }
        refuse(Problem(error, lineBytes: watch.lineBytes), context)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where isLast && head.status.code >= 200:
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            context.write(data, promise: promise)
            exchange.noteAnswer(at: context.eventLoop.now)
            endIfDone(context)
            setAlarm(context)
        default: context.write(data, promise: promise)
        }
    }

    /// Whether the answer under way is the last one.
    private var isLast: Bool { (isDeaf || isLastRequest) && refusal == nil && exchange.unanswered == 1 }

    /// Reads on, lest the client's system throw away our last answer, but takes nothing.
    private func fallSilent() {
        isDeaf = true
        watch.lingers = true
    }

    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        fallSilent()
        refusal = problem
        endIfDone(context)
    }

    /// Ends a body that can't be read on. Whoever reads it answers, as the last one here.
    private func breakOff(_ error: any Error, _ context: ChannelHandlerContext) {
        fallSilent()
        context.fireErrorCaught(error)
        endIfDone(context)
    }

    private func endIfDone(_ context: ChannelHandlerContext) {
        guard isDeaf, exchange.unanswered == 0 else { return }
        if let refusal {
            for part in answerTo(refusal) { context.write(wrapOutboundOut(part), promise: nil) }
        }
        context.close(promise: nil)
    }

    /// Wakes up by the exchange's deadline. An alarm that rings too early is set anew then, which costs less than to move it each time.
    private func setAlarm(_ context: ChannelHandlerContext) {
        guard !isDeaf, let deadline = exchange.deadline(limits) else { return }
        if let alarm {
            guard deadline < alarm.at else { return }
            alarm.task.cancel()
        }
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.ring(context) }
        alarm = (task, deadline)
    }

    private func ring(_ context: ChannelHandlerContext) {
        alarm = nil
        guard !isDeaf, let deadline = exchange.deadline(limits), deadline <= context.eventLoop.now else {
            return setAlarm(context)
        }
        if exchange.isReadingBody, exchange.unanswered > 0 {
            breakOff(HTTPParserError.invalidEOFState, context)
        } else {
            context.close(promise: nil)
        }
    }
}

extension HTTPRequestHead {
    /// Whether nothing can come after the request: its client says so, or wants to speak something else from here on, which the parser obeys
    /// though we do not.
    fileprivate var endsConnection: Bool {
        !isKeepAlive || method == .CONNECT || headers.contains(name: "Upgrade")
    }
}
