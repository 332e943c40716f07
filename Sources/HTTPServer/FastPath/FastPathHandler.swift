import DarkroomTracing
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import ServiceContextModule

/// The channel handler after ``RequestLimitsHandler``: it answers requests that its responder can answer at once, and
/// passes all others on.
///
/// A request is answered here only if no earlier request of the connection waits for its response, and only while the
/// client reads its responses.
final class FastPathHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// A response that is sent once its request has been read to the end.
    private struct Pending {
        let request: FastRequest
        let response: FastResponse
        let receivedAt: NIODeadline
    }

    private let path: FastPath
    private let watch: ClientWatchHandler
    private let limits: RequestLimitsHandler
    private let peer: FastRequest.Peer?
    private var pending: Pending?
    private var hasUnflushedBytes = false

    /// The responses go to `watch`, past the handlers in between, and `limits` counts them.
    init(_ path: FastPath, watch: ClientWatchHandler, limits: RequestLimitsHandler, peer: FastRequest.Peer?) {
        self.path = path
        self.watch = watch
        self.limits = limits
        self.peer = peer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            pending = respond(to: head, context)
            if pending == nil { context.fireChannelRead(data) }
        case .end:
            guard let pending = pending.take() else { return context.fireChannelRead(data) }
            send(pending, context)
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

    private func respond(to head: HTTPRequestHead, _ context: ChannelHandlerContext) -> Pending? {
        let now = NIODeadline.now()
        guard limits.awaitsOneResponse, context.channel.isWritable, let request = FastRequest(head, from: peer),
            let response = path.responders().response(to: request)
        else { return nil }
        return Pending(request: request, response: response, receivedAt: now)
    }

    private func send(_ pending: Pending, _ context: ChannelHandlerContext) {
        let (request, response) = (pending.request, pending.response)
        let id = request.requestID.flatMap(ServerRequestContext.validRequestID) ?? "\(RequestID())"
        var head = context.channel.allocator.buffer(capacity: response.head.readableBytes + 256)
        head.writeImmutableBuffer(response.head)
        let body: ByteBuffer
        switch response.content {
        case .image(let image, _, let serverTiming):
            body = image
            head.writeStaticString("Server-Timing: ")
            head.writeString(serverTiming)
            head.writeStaticString("\r\n")
        case .problem(let problem):
            body = problem.json(requestID: id, base: path.problemBase)
            head.writeString("Content-Length: \(body.readableBytes)\r\n")
            path.observers.metrics.record(problem.kind)
        }
        head.writeStaticString("X-Request-Id: ")
        head.writeString(id)
        head.writeStaticString("\r\n\r\n")
        watch.write(head)
        let bytes = request.isHead ? 0 : body.readableBytes
        if bytes > 0 { watch.write(body) }
        hasUnflushedBytes = true
        record(pending, id, bytes: bytes)
        limits.recordResponse()
    }

    private func record(_ pending: Pending, _ id: String, bytes: Int) {
        let (request, response) = (pending.request, pending.response)
        let method = request.isHead ? HTTPRequest.Method.head : .get
        let duration = Duration.nanoseconds((NIODeadline.now() - pending.receivedAt).nanoseconds)
        response.metrics.record(status: response.status, method, cache: response.cacheUse, took: duration)
        let loggedPath = RouteTable.logged(String(request.target.prefix { $0 != "?" }), of: response.metrics.route)
        let span = path.observers.tracing?.span(of: request, after: duration, instrument: path.observers.instrument)
        path.observers.record(
            AccessLogEntry(
                method: method.rawValue, path: loggedPath, status: response.status,
                bytes: bytes, duration: duration, requestID: id, traceID: span?.traceID ?? traceID(of: request),
                client: request.client, cacheStatus: response.cacheStatus, problem: response.problem?.slug,
                details: response.details),
            isHit: response.details.isHit, took: duration, route: response.metrics.route, span)
    }

    private func traceID(of request: FastRequest) -> String? {
        guard let fields = request.traceFields else { return nil }
        return ServiceContext(fields, requestID: "", instrument: path.observers.instrument).trace?.traceID
    }
}
