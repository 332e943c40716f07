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

extension ServerRequestContext {
    /// A context of its own for each request.
    static var test: ServerRequestContext {
        ServerRequestContext(logger: .quiet, requestID: "request-7", clientAddress: IPAddress("192.0.2.7"))
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
        fastResponder: (any FastResponder)? = nil,
        details: AccessLogDetails = .none,
        item: @escaping @Sendable (Request) async throws(Problem) -> Response = { _ in .item() }
    ) -> ListenerConfiguration {
        let routes = [
            Route("/ok") { _, _ in .json(["status": "ok"]) },
            Route("/item") { request, context throws(Problem) in
                context.logDetails = details
                try request.requireParsableTarget()
                return try await item(request)
            },
            Route("/upload", [.post]) { request, context throws(Problem) in
                context.continueRequest()
                _ = try await request.jsonBody(upTo: 1 << 20)
                return .json(["status": "ok"])
            },
            Route("/refuse", [.post]) { _, _ throws(Problem) in throw Problem(.rateLimited, "No.") },
        ]
        return ListenerConfiguration(
            address: .host("127.0.0.1", port: 0), basePath: basePath, routes: routes, limits: limits,
            proxies: TrustedProxies(networks: proxies),
            observers: RequestObservers(
                metrics: metrics, state: state,
                log: AccessLog(redactedPrefixes: ["/signed/"], logsHits: logsHits) { log.record($0) },
                logger: .quiet, instrument: instrument, tracing: tracing),
            fastResponders: [fastResponder].compactMap(\.self))
    }

    /// Responds to a request without a socket.
    func respond(
        _ target: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:]
    ) async throws -> Response {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: target, headerFields: fields)
        return try await makeRouter().buildResponder().respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: .test)
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
    tracing: RequestTracing? = nil, state: ServerState = ServerState(), basePath: String = "",
    fastResponder: (any FastResponder)? = nil,
    item: @escaping @Sendable (Request) async throws(Problem) -> Response = { _ in .item() },
    onListening: @escaping @Sendable (any Channel) -> Void = { _ in },
    use: @Sendable (SocketAddress) async throws -> Void
) async throws {
    let (addresses, reportAddress) = AsyncStream<SocketAddress>.makeStream()
    var listener = ListenerConfiguration.test(
        limits: limits, proxies: proxies, log: log, instrument: W3CTraceContext(), tracing: tracing, state: state,
        basePath: basePath, fastResponder: fastResponder, item: item)
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
