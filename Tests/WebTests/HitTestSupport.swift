import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomLoading
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTestClock
import DarkroomTracing
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline
@testable import DarkroomWeb

/// An origin whose images are named after their caching fields.
private struct NamedOrigin: OriginFetching {
    static let fields: [String: HTTPFields] = [
        "fresh": [.cacheControl: "max-age=3600", .eTag: "\"a\""],
        "fresh-drawing": [.cacheControl: "max-age=3600", .eTag: "\"b\""],
        "modified": [.cacheControl: "max-age=3600", .lastModified: "Sun, 06 Nov 1994 08:00:00 GMT"],
        "short": [.cacheControl: "max-age=30"],
        "private": [.cacheControl: "private, max-age=3600"],
        "nostore": [.cacheControl: "no-store"],
        "nocache": [.cacheControl: "no-cache"],
        "vary": [.cacheControl: "max-age=3600", .vary: "Accept"],
        "immutable": [.cacheControl: "max-age=3600, immutable, s-maxage=900"],
    ]

    let clock: TestClock

    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        let name = request.url.path.dropFirst()
        guard let fields = Self.fields[String(name)] else {
            throw .notFound(
                UnusableResponse(status: 404, headers: [:], requestedAt: clock.date, receivedAt: clock.date))
        }
        return OriginResponse(
            url: request.url, status: .ok, headers: fields, body: ByteBuffer(string: "bytes of \(name)"),
            requestedAt: clock.date, receivedAt: clock.date)
    }
}

/// Holds up the threads of a pipeline.
final class ProcessingGate: Sendable {
    private let isClosed = Atomic(false)
    private let (holds, hold) = AsyncStream<Void>.makeStream()
    private let opening = DispatchSemaphore(value: 0)

    /// Returns once another thread waits.
    func holdsThread() async { await holds.first { true } }

    func close() { isClosed.store(true, ordering: .releasing) }

    /// Lets all through that have come, and will come.
    func open() {
        isClosed.store(false, ordering: .releasing)
        opening.signal()
    }

    func pass() {
        guard isClosed.load(ordering: .acquiring) else { return }
        hold.yield()
        opening.wait()
        opening.signal()
    }
}

/// Makes texts that name the source and the output.
private struct NamingProcessor: ImageProcessing {
    let gate: ProcessingGate

    func plan(
        _ job: ImageJob, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> ImagePlan {
        Explanation.plan
    }

    func process(
        _ job: ImageJob, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> ProcessedImage {
        gate.pass()
        let format = job.output.format ?? .jpeg
        let quality = job.output.converted(to: format).quality
        let text =
            format == .json
            ? ##"{"blurhash":"LEHV6nWB2yk8pyo0adR*.7kCMdnj","dominant_color":"#0a0b0c"}"##
            : "\(format) of \(String(buffer: job.source)) at \(quality.map { "\($0)" } ?? "any") quality"
        return ProcessedImage(
            body: ByteBuffer(string: text), format: format, size: PixelSize(width: 1, height: 1), frames: 1,
            sourceFormat: .jpeg)
    }
}

/// Counts the requests that routes answer at once.
final class AnswerCount: Sendable {
    private let answers = Atomic(0)

    var count: Int { answers.load(ordering: .relaxed) }

    /// The route, whose answers in front of the framework are counted: images, refusals and remembered failures.
    func counting(_ route: Route) -> Route {
        var counting = Route(route.path, route.methods, isEmbeddable: route.isEmbeddable) {
            [self] head throws(Problem) in
            do throws(Problem) {
                let answer = try route.answer(head)
                if case .now = answer, head.isPlain { answers.wrappingAdd(1, ordering: .relaxed) }
                return answer
            } catch {
                if head.isPlain, [.overloaded, .sourceNotFound].contains(error.kind) {
                    answers.wrappingAdd(1, ordering: .relaxed)
                }
                throw error
            }
        }
        (counting.origins, counting.accepts) = (route.origins, route.accepts)
        return counting
    }
}

/// A server on a free port, with a pipeline of its own. Its images come from ``NamedOrigin``.
final class HitServer: Sendable {
    let pipeline: ImagePipeline
    let metrics = RecordingMetrics()
    let answers = AnswerCount()
    let gate = ProcessingGate()
    private let listener: ListenerConfiguration
    private let logged: Log

    private final class Log: Sendable {
        let entries = Mutex<[AccessLogEntry]>([])
    }

    var log: [AccessLogEntry] { logged.entries.withLock(\.self) }

    /// - Parameters:
    ///   - disk: the second tier. Memory then has room for records only.
    ///   - processing: makes the images; nil = texts.
    init(
        _ configuration: WebConfiguration, clock: TestClock, disk: (any Storing)? = nil,
        logsHits: Bool = true, processing: (any ImageProcessing)? = nil
    ) {
        pipeline = ImagePipeline(
            configuration: Self.pipelineConfiguration, origin: NamedOrigin(clock: clock),
            memory: MemoryStore(budgetBytes: disk == nil ? 1 << 20 : 0), disk: disk,
            processing: processing ?? NamingProcessor(gate: gate), now: { clock.date }, random: { 0.5 })
        let log = Log()
        logged = log
        var observability = Observability.idle(metrics: metrics)
        observability.logRequest = { entry in log.entries.withLock { $0.append(entry) } }
        observability.logsHits = logsHits
        var configuration = configuration
        (configuration.address, configuration.now) = (.host("127.0.0.1", port: 0), { clock.date })
        // Longer than the test's time limit: a connection waits while the queue is filled.
        configuration.clientLimits.connections.idleTimeout = .seconds(600)
        let observers = observability.observers(logger: .quiet, instrument: W3CTraceContext())
        let endpoints = Endpoints(configuration, pipeline, Prefetcher(pipeline), observability)
        var listener = endpoints.configuration(of: .main, configuration, observers: observers)
        listener.routes = listener.routes.map(answers.counting)
        self.listener = listener
    }

    private static let places = 4

    private static var pipelineConfiguration: PipelineConfiguration {
        var configuration = PipelineConfiguration()
        configuration.pixelWorkers = 1
        configuration.queueDepth = places
        return configuration
    }

    /// Fills the pixel queue with jobs of a client that no other request displaces, until the gate opens.
    func fillQueue(client: String) async throws -> [Task<Void, any Error>] {
        gate.close()
        let requests = try (0...Self.places).map { number in
            var request = ImageRequest(source: try SourceURL(parsing: "http://a.org/fresh?\(number)"))
            request.priority = .high
            request.client = client
            return request
        }
        func start(_ request: ImageRequest) -> Task<Void, any Error> {
            Task { [pipeline] in _ = try await pipeline.image(for: request) }
        }
        // The first job takes a place too, until the thread has taken it.
        var tasks = requests.prefix(1).map(start)
        await gate.holdsThread()
        tasks += requests.dropFirst().map(start)
        while pipeline.load.waitingCount < Self.places { await Task.yield() }
        return tasks
    }

    /// Runs the server while `use` runs.
    func run(_ use: @Sendable (SocketAddress) async throws -> Void) async throws {
        let (addresses, reportAddress) = AsyncStream<SocketAddress>.makeStream()
        let service = ListenerService(listener) { channel in
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

    /// Returns once no original is in use, so that the next request finds them all in the cache or not at all.
    func settle() async {
        let sources = try? ["fresh", "modified", "short", "private", "nostore", "nocache", "vary", "immutable"].map {
            RequestKeys.source(try SourceURL(parsing: "http://a.org/\($0)").canonical)
        }
        for source in sources ?? [] {
            while pipeline.resolver.cache.originalsInUse[source] != nil { await Task.yield() }
        }
    }
}

/// A response as it was received.
struct ReceivedResponse: Equatable {
    var status: String
    /// By lower-case names, the lines of each in their order.
    var fields: [String: [String]]
    var body: String
}

/// A keep-alive connection that sends text.
struct HitClient {
    private let channel: any Channel
    private var bytes: AsyncStream<ByteBuffer>.Iterator
    private var unread = ""

    init(_ address: SocketAddress) async throws {
        let (stream, source) = AsyncStream<ByteBuffer>.makeStream()
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Receiver(source))
                }
            }
            .connect(to: address).get()
        bytes = stream.makeAsyncIterator()
    }

    func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }

    func close() async throws { try await channel.close() }

    /// Receives the response to the oldest request without one.
    mutating func response(toHead isHead: Bool = false) async throws -> ReceivedResponse {
        var head = unread.range(of: "\r\n\r\n")
        while head == nil {
            unread += String(buffer: try #require(await bytes.next()))
            head = unread.range(of: "\r\n\r\n")
        }
        let end = try #require(head)
        let lines = unread[..<end.lowerBound].components(separatedBy: "\r\n")
        let fields = lines.dropFirst().map { $0.split(separator: ":", maxSplits: 1) }
        var response = ReceivedResponse(
            status: lines[0],
            fields: Dictionary(fields.map { ($0[0].lowercased(), [$0[1].trimmingCharacters(in: .whitespaces)]) }) {
                $0 + $1
            }, body: "")
        unread = String(unread[end.upperBound...])
        let hasBody = !isHead && !lines[0].contains(" 304 ")
        let length = hasBody ? response.fields["content-length"]?.first.flatMap(Int.init) ?? 0 : 0
        while unread.utf8.count < length { unread += String(buffer: try #require(await bytes.next())) }
        response.body = String(decoding: unread.utf8.prefix(length), as: UTF8.self)
        unread = String(decoding: unread.utf8.dropFirst(length), as: UTF8.self)
        return response
    }

    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let source: AsyncStream<ByteBuffer>.Continuation

        init(_ source: AsyncStream<ByteBuffer>.Continuation) {
            self.source = source
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { source.yield(unwrapInboundIn(data)) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
        func channelInactive(context: ChannelHandlerContext) { source.finish() }
    }
}

/// Makes texts that are too large to be read whole for a response.
struct LargeImageProcessor: ImageProcessing {
    static let text = (0..<100_000).map { "\($0)," }.joined()

    func plan(
        _ job: ImageJob, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> ImagePlan {
        Explanation.plan
    }

    func process(
        _ job: ImageJob, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> ProcessedImage {
        ProcessedImage(
            body: ByteBuffer(string: Self.text), format: .jpeg, size: PixelSize(width: 1, height: 1), frames: 1,
            sourceFormat: .jpeg)
    }
}
