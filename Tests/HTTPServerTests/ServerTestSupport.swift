import CoreMetrics
import DarkroomNetwork
import DarkroomTracing
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import Testing
import Tracing

@testable import DarkroomHTTPServer

extension Response {
    /// The body as text.
    func text() async throws -> String {
        let sink = BodySink()
        try await body.write(sink)
        return String(buffer: sink.bytes.withLock { $0 })
    }
}

private final class BodySink: ResponseBodyWriter, Sendable {
    let bytes = Mutex(ByteBuffer())

    func write(_ buffer: ByteBuffer) {
        bytes.withLock { _ = $0.writeImmutableBuffer(buffer) }
    }

    func finish(_ trailingHeaders: HTTPFields?) {}
}

extension Logger {
    /// Discards everything.
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// Answers some requests at once, in front of the routes of a test.
protocol ImmediateResponder: Sendable {
    /// Nil = the route answers.
    func answer(to head: RequestHead) throws(Problem) -> Answer?
}

extension Reply {
    /// A reply with a short head.
    init(_ body: String, status: Int = 200) {
        let body = ByteBuffer(string: body)
        var fields: HTTPFields = [.cacheStatus: "darkroom;hit;ttl=5;detail=memory"]
        if status != 304 { fields[.contentLength] = "\(body.readableBytes)" }
        self.init(
            status: status, head: .head(status == 304 ? .notModified : .ok, fields, ReplySharing(.none)), body: body,
            cacheStatus: "darkroom;hit;ttl=5;detail=memory",
            details: AccessLogDetails(["tier": .text("memory")], isHit: true))
    }
}

extension ProblemKind {
    static let transport: [ProblemKind] = [
        .invalidBody, .noSuchRoute, .methodNotAllowed, .bodyTooLarge, .targetTooLong, .unsupportedBody, .rateLimited,
        .malformedRequest, .headTooLarge, .internalError, .unavailable,
    ]
}

extension RequestMetrics {
    static func discarding() -> RequestMetrics {
        RequestMetrics(NOOPMetricsHandler.instance, kinds: ProblemKind.transport)
    }
}

extension ListenerConfiguration {
    /// A listener on a free port with a few routes: `/ok` returns JSON, `/item` calls `item`, `/upload` asks for a JSON
    /// body and reads it, and `/refuse` refuses its body unread.
    ///
    /// - Parameter details: what `/item` reports to the access log.
    static func test(
        limits: ConnectionLimits = ConnectionLimits(), proxies: [CIDR] = [],
        log: AccessLogRecorder = AccessLogRecorder(), logsHits: Bool = true,
        instrument: any Instrument = NoOpTracer(), tracing: RequestTracing? = nil,
        metrics: RequestMetrics = .discarding(), state: ServerState = ServerState(), basePath: String = "",
        ignored: [String] = [], immediate: (any ImmediateResponder)? = nil,
        details: AccessLogDetails = .none,
        item: @escaping @Sendable (Request) async throws(Problem) -> Response = { _ in .item() }
    ) -> ListenerConfiguration {
        let routes = [
            Route("/ok") { _, _ in .json(["status": "ok"]) },
            Route("/item") { request, context throws(Problem) in
                context.logDetails = details
                return try await item(request)
            },
            Route("/upload", [.post]) { request, context throws(Problem) in
                context.continueRequest()
                _ = try await request.jsonBody(upTo: 1 << 20)
                return .json(["status": "ok"])
            },
            Route("/refuse", [.post]) { _, _ throws(Problem) in throw Problem(.rateLimited, "No.") },
            Route("/fast") { _, _ in .item() }, Route("/fast/{rest}") { _, _ in .item() },
        ].map { route in
            Route(route.path, route.methods) { head throws(Problem) in
                if head.isPlain, let answer = try immediate?.answer(to: head) { return answer }
                return try route.answer(head)
            }
        }
        return ListenerConfiguration(
            address: .host("127.0.0.1", port: 0), basePath: basePath, ignoredParameters: IgnoredParameters(ignored),
            routes: routes, limits: limits,
            proxies: TrustedProxies(networks: proxies),
            observers: RequestObservers(
                metrics: metrics, state: state,
                log: AccessLog(redactedPrefixes: ["/signed/"], logsHits: logsHits) { log.record($0) },
                logger: .quiet, instrument: instrument, tracing: tracing))
    }

    /// Responds to a request without a socket.
    func respond(
        _ target: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:]
    ) async throws -> Response {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: target, headerFields: fields)
        return await response(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), from: IPAddress("192.0.2.7"),
            id: "request-7")
    }
}

extension Route {
    /// A route whose responses are made on the event loop of the connection, or on Swift's pool of threads.
    init(
        _ path: String, _ methods: [HTTPRequest.Method] = [.get, .head], isEmbeddable: Bool = false,
        runsOnEventLoop: Bool,
        respond: @escaping @Sendable (Request, ServerRequestContext) async throws(Problem) -> Response
    ) {
        self.init(path, methods, isEmbeddable: isEmbeddable) { _ in runsOnEventLoop ? .later(respond) : .onPool(respond)
        }
    }
}

extension Response {
    /// A response whose body is one buffer.
    static func item(_ body: String = "bytes") -> Response {
        Response(status: .ok, headers: [:], body: ResponseBody(byteBuffer: ByteBuffer(string: body)))
    }
}

/// Runs a server on a free port while `use` runs, then shuts it down gracefully.
///
/// - Parameter routes: routes besides the routes of every test.
func withServer(
    routes: [Route] = [], limits: ConnectionLimits = ConnectionLimits(), proxies: [CIDR] = [],
    log: AccessLogRecorder = AccessLogRecorder(),
    tracing: RequestTracing? = nil, state: ServerState = ServerState(), basePath: String = "", ignored: [String] = [],
    immediate: (any ImmediateResponder)? = nil,
    item: @escaping @Sendable (Request) async throws(Problem) -> Response = { _ in .item() },
    onListening: @escaping @Sendable (any Channel) -> Void = { _ in },
    use: @Sendable (SocketAddress) async throws -> Void
) async throws {
    let (addresses, reportAddress) = AsyncStream<SocketAddress>.makeStream()
    var listener = ListenerConfiguration.test(
        limits: limits, proxies: proxies, log: log, instrument: W3CTraceContext(), tracing: tracing, state: state,
        basePath: basePath, ignored: ignored, immediate: immediate, item: item)
    listener.routes += routes
    let service = ListenerService(listener) { channel in
        onListening(channel)
        if let address = channel.localAddress { reportAddress.yield(address) }
    }
    let group = ServiceGroup(configuration: .init(services: [service], logger: .quiet))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        let address = try #require(await addresses.first { _ in true })
        try await use(address)
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
    }
}
