import NIOCore
import NIOHTTP1

/// The channel handler after the HTTP parser: it enforces the timeouts for each part of a request, limits pipelining,
/// and answers malformed requests with a problem document, after the responses to the requests before them.
///
/// It sends 100 (Continue) for endpoints that read the body, and discards bodies that no endpoint reads.
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
    /// Whether the client waits for 100 (Continue) before it sends the body of the current request.
    private var awaitsContinue = false
    /// Whether the response was sent before the body had arrived, so that the remaining body is not needed.
    private var discardsBody = false
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
            awaitsContinue = head.expectsContinue
            progress.receivedHead(at: context.eventLoop.now)
        case .body:
            awaitsContinue = false
            if discardsBody { return }
        case .end:
            (awaitsContinue, discardsBody) = (false, false)
            progress.receivedEnd(at: context.eventLoop.now)
            watch.beginRequest()
            ignoresInput = isLastRequest
            hasReadEnd = true
        }
        context.fireChannelRead(data)
        closeIfDone(context)
        scheduleTimeout(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Bytes that end a request do not begin the next request. If some bytes do both, the bytes after them count.
        if !ignoresInput, !hasReadEnd {
            progress.receivedBytes(at: context.eventLoop.now)
            scheduleTimeout(context)
        }
        hasReadEnd = false
        context.fireChannelReadComplete()
        if discardsBody { context.read() }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is ContinueRequest else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if awaitsContinue, awaitsOneResponse {
            awaitsContinue = false
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        }
        promise?.succeed()
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
        if case .head = unwrapOutboundIn(data), awaitsContinue, awaitsOneResponse {
            // The client may send the body or not, and the server cannot know which (RFC 9110 §10.1.1).
            ignoreInput()
        }
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

    /// Records that the response to the oldest unanswered request is complete.
    func recordResponse() {
        guard let context else { return }
        progress.sentResponse(at: context.eventLoop.now)
        if progress.isReadingBody, progress.pendingResponses == 0, !ignoresInput {
            // The framework no longer reads if the client wants the connection closed.
            discardsBody = true
            context.read()
        }
        closeIfDone(context)
        scheduleTimeout(context)
    }

    private var isLastResponse: Bool {
        (ignoresInput || isLastRequest) && refusal == nil && progress.pendingResponses == 1
    }

    /// Continues to read, so that the client's TCP stack does not discard the last response, but discards the bytes.
    private func ignoreInput() {
        ignoresInput = true
        watch.lingers = true
    }

    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        ignoreInput()
        refusal = problem
        closeIfDone(context)
    }

    /// Ends a body that cannot be read further. The request's handler gets the error, and its response is the last of
    /// the connection.
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

/// The outbound event that makes the connection send 100 (Continue), if the client waits for it.
struct ContinueRequest: Sendable {}

extension HTTPRequestHead {
    /// Whether no further request can follow on the connection: the client asked to close it, or to switch to another
    /// protocol, in which case the parser stops although the server does not switch.
    fileprivate var endsConnection: Bool {
        !isKeepAlive || method == .CONNECT || headers.contains(name: "Upgrade")
    }

    /// Whether the client sends the body only after 100 (Continue), or after a while (RFC 9110 §10.1.1).
    fileprivate var expectsContinue: Bool {
        guard version == .http1_1, headers["Expect"].contains(where: { $0.lowercased() == "100-continue" }) else {
            return false
        }
        return headers.contains(name: "Transfer-Encoding") || headers["Content-Length"].contains { $0 != "0" }
    }
}
