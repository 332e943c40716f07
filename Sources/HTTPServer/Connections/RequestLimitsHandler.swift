import NIOCore
import NIOHTTP1

/// The channel handler behind the HTTP parser: it enforces the timeouts for each part of a request, limits pipelining,
/// and answers malformed requests with a problem document, after the responses to the requests before them.
final class RequestLimitsHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let watch: ClientWatchHandler
    private let limits: ConnectionLimits
    private let responseTo: (Problem) -> [HTTPServerResponsePart]
    private var progress: RequestProgress
    /// Whether further requests are ignored: the connection closes after the pending responses.
    private var ignoresInput = false
    /// Whether input is ignored from the end of the current request on.
    private var isLastRequest = false
    /// Whether a request has ended since bytes were last read completely.
    private var hasReadEnd = false
    /// The problem that is the connection's last response.
    private var refusal: Problem?
    private var timeout: (task: Scheduled<Void>, at: NIODeadline)?
    private var context: ChannelHandlerContext?

    /// - Parameter response: makes the response to a request refused here. It is called once per problem, so it can log
    ///   it.
    init(
        watch: ClientWatchHandler, limits: ConnectionLimits, now: NIODeadline,
        response: @escaping (Problem) -> [HTTPServerResponsePart]
    ) {
        self.watch = watch
        self.limits = limits
        responseTo = response
        progress = RequestProgress(at: now)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        scheduleTimeout(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timeout?.task.cancel()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !ignoresInput else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard progress.pendingResponses < ConnectionLimits.maxPipelinedRequests else { return ignoreInput() }
            if let problem = Problem(malformed: head) { return refuse(problem, context) }
            isLastRequest = head.endsConnection
            progress.receivedHead(at: context.eventLoop.now)
        case .body: break
        case .end:
            progress.receivedEnd(at: context.eventLoop.now)
            watch.beginRequest()
            ignoresInput = isLastRequest
            hasReadEnd = true
        }
        context.fireChannelRead(data)
        scheduleTimeout(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Bytes that end a request are no beginning of the next one. If some are both, the next ones count.
        if !ignoresInput, !hasReadEnd {
            progress.receivedBytes(at: context.eventLoop.now)
            scheduleTimeout(context)
        }
        hasReadEnd = false
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            if progress.isReadingBody { isLastRequest = true } else { ignoresInput = true }
            closeIfDone(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        guard !ignoresInput else { return }
        if case .invalidEOFState = error { return context.fireErrorCaught(error) }
        guard !progress.isReadingBody else { return abortBody(error, context) }
        refuse(Problem(error, requestLineBytes: watch.requestLineBytes), context)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where isLastResponse && head.status.code >= 200:
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            context.write(data, promise: promise)
            recordResponse()
        default: context.write(data, promise: promise)
        }
    }

    /// Whether exactly one request has no complete response.
    var awaitsOneResponse: Bool { progress.pendingResponses == 1 }

    /// Records that the response to the oldest request without one is complete.
    func recordResponse() {
        guard let context else { return }
        progress.sentResponse(at: context.eventLoop.now)
        closeIfDone(context)
        scheduleTimeout(context)
    }

    private var isLastResponse: Bool {
        (ignoresInput || isLastRequest) && refusal == nil && progress.pendingResponses == 1
    }

    /// Keeps reading, so that the client's TCP stack does not discard our last response, but discards what it reads.
    private func ignoreInput() {
        ignoresInput = true
        watch.lingers = true
    }

    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        ignoreInput()
        refusal = problem
        closeIfDone(context)
    }

    /// Ends a body that cannot be read further. The request's handler gets the error, and its response is the last one.
    private func abortBody(_ error: any Error, _ context: ChannelHandlerContext) {
        ignoreInput()
        context.fireErrorCaught(error)
        closeIfDone(context)
    }

    private func closeIfDone(_ context: ChannelHandlerContext) {
        guard ignoresInput, progress.pendingResponses == 0 else { return }
        if let refusal {
            for part in responseTo(refusal) { context.write(wrapOutboundOut(part), promise: nil) }
        }
        context.close(promise: nil)
    }

    /// Schedules a check at the client's deadline. A timer that fires too early is scheduled again then, which is
    /// cheaper than moving it for each part of a request.
    private func scheduleTimeout(_ context: ChannelHandlerContext) {
        guard !ignoresInput, let deadline = progress.deadline(limits) else { return }
        if let timeout {
            guard deadline < timeout.at else { return }
            timeout.task.cancel()
        }
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.timeoutFired(context) }
        timeout = (task, deadline)
    }

    private func timeoutFired(_ context: ChannelHandlerContext) {
        timeout = nil
        guard !ignoresInput, let deadline = progress.deadline(limits), deadline <= context.eventLoop.now else {
            return scheduleTimeout(context)
        }
        if progress.isReadingBody, progress.pendingResponses > 0 {
            abortBody(HTTPParserError.invalidEOFState, context)
        } else {
            context.close(promise: nil)
        }
    }
}

extension HTTPRequestHead {
    /// Whether no further request can follow on the connection: the client asked to close it, or to switch to another
    /// protocol, in which case the parser stops although the server does not switch.
    fileprivate var endsConnection: Bool {
        !isKeepAlive || method == .CONNECT || headers.contains(name: "Upgrade")
    }
}
