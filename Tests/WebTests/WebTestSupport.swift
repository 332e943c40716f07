import CoreMetrics
import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

@testable import DarkroomPipeline
@testable import DarkroomWeb

extension Response {
    /// The body, as it goes out.
    func bytes() async throws -> ByteBuffer {
        let sink = BodySink()
        try await body.write(sink)
        return sink.bytes.withLock { $0 }
    }

    func text() async throws -> String { String(buffer: try await bytes()) }
}

private final class BodySink: ResponseBodyWriter, Sendable {
    let bytes = Mutex(ByteBuffer())

    func write(_ buffer: ByteBuffer) {
        bytes.withLock { _ = $0.writeImmutableBuffer(buffer) }
    }

    func finish(_ trailingHeaders: HTTPFields?) {}
}

extension ImageResponse {
    static let madeAt = Date(timeIntervalSince1970: 784_111_777)

    /// A picture of five bytes whose origin vouched for it 90 seconds ago.
    ///
    /// - Parameters:
    ///   - origin: what the origin said of caching.
    ///   - remaining: nil = as long as the origin said.
    static func stub(
        cache: CacheReport = CacheReport(variant: .memory), lastModified: Date? = nil, body: String = "bytes",
        origin: HTTPFields = [.cacheControl: "max-age=3600"], remaining: Duration? = nil,
        fallbackReason: PipelineError? = nil, placeholders: Placeholders? = nil
    ) -> ImageResponse {
        let stored = StoredResponse(
            status: 200, fields: origin, sent: [:], requestedAt: madeAt, receivedAt: madeAt)
        let age = Duration.seconds(90)
        return ImageResponse(
            body: ByteBuffer(string: body), format: .webp, digest: String(repeating: "0123456789abcdef", count: 4),
            lastModified: lastModified, age: age,
            remaining: remaining ?? stored.freshness(FreshnessPolicy()).lifetime - age,
            cachePolicy: ClientCachePolicy(stored, policy: FreshnessPolicy()), cache: cache,
            timings: Timings(fetch: .microseconds(31_250), process: .milliseconds(12), total: .microseconds(44_007)),
            fallbackReason: fallbackReason, placeholders: placeholders)
    }
}

extension Logger {
    /// Says nothing.
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension WebContext {
    static let test = WebContext(logger: .quiet, requestID: "request-7", clientAddress: IPAddress("192.0.2.7"))
}

extension PurgeEndpoint {
    /// Finds nothing.
    static func idle() -> PurgeEndpoint {
        PurgeEndpoint { _, _, _, _ in
            PurgeReport()
        } removeExpired: {
            PurgeReport()
        }
    }
}

extension PrefetchEndpoint {
    /// Finds every picture at once.
    static func idle() -> PrefetchEndpoint { PrefetchEndpoint(Prefetcher { _ in .stub() }) }
}

extension Instruments {
    /// Counts nowhere, and tells the same every time.
    static func idle(
        metrics: any MetricsFactory = NOOPMetricsHandler.instance, traffic: Traffic = Traffic(),
        cacheWorks: @escaping @Sendable () -> Bool = { true }
    ) -> Self {
        let tier = CacheTier(entries: 1, bytes: 2, budgetBytes: 3, hits: 4, misses: 5)
        return Instruments(metrics: metrics, traffic: traffic) {
            "# TYPE a gauge\na 1\n"
        } caches: {
            CacheTiers(memory: tier, disk: nil, decoded: tier)
        } cacheWorks: {
            cacheWorks()
        }
    }
}

extension OperationEndpoint {
    static func idle() -> OperationEndpoint { OperationEndpoint(instruments: .idle()) }
}

extension Endpoints {
    /// Those that are not given do nothing.
    static func idle(
        image: ImageEndpoint = ImageEndpoint(configuration: WebConfiguration()) { _ in .stub() },
        explain: ExplainEndpoint = .idle(), purge: PurgeEndpoint = .idle(), entries: EntriesEndpoint = .idle(),
        prefetch: PrefetchEndpoint = .idle(), operation: OperationEndpoint = .idle(),
        srcset: SrcsetEndpoint = SrcsetEndpoint(configuration: WebConfiguration())
    ) -> Endpoints {
        Endpoints(
            image: image, explain: explain, purge: purge, entries: entries, prefetch: prefetch, operation: operation,
            srcset: srcset)
    }
}

extension WebConfiguration {
    /// With this admin token.
    static func test(token: String?) -> WebConfiguration { WebConfiguration(adminToken: token, viaPseudonym: "us") }
}

/// A site whose pictures come from a closure.
struct TestSite {
    let responder: RouterResponder<WebContext>

    init(
        door: Door = .main, configuration: WebConfiguration = .test(token: nil),
        purge: PurgeEndpoint = .idle(), prefetch: PrefetchEndpoint = .idle(),
        operation: OperationEndpoint = .idle(), logger: Logger = .quiet,
        picture: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse = { _ in .stub() }
    ) {
        let endpoints = Endpoints.idle(
            image: ImageEndpoint(configuration: configuration, picture: picture), purge: purge,
            prefetch: prefetch, operation: operation, srcset: SrcsetEndpoint(configuration: configuration))
        responder = makeRouter(endpoints, at: door, configuration: configuration, logger: logger).buildResponder()
    }

    /// Of endpoints that share a configuration.
    init(_ endpoints: Endpoints, configuration: WebConfiguration) {
        responder = makeRouter(endpoints, configuration: configuration, logger: .quiet).buildResponder()
    }

    func respond(
        _ target: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:], body: String = ""
    ) async throws -> Response {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: target, headerFields: fields)
        return try await responder.respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body))), context: .test)
    }

    /// The problem that a request ends in.
    func problem(
        _ target: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:], body: String = ""
    ) async throws -> Problem.Document {
        let response = try await respond(target, method: method, fields: fields, body: body)
        return try JSONDecoder().decode(Problem.Document.self, from: Data(try await response.text().utf8))
    }
}
