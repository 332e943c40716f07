import CoreMetrics
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomRequests
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization
import Testing
import Yams

@testable import DarkroomCache
@testable import DarkroomLoading
@testable import DarkroomPipeline
@testable import DarkroomQuery
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
        fallbackReason: PipelineError? = nil, placeholders: Placeholders? = nil,
        quality: ResultQuality? = nil, gaps: SVGGaps = []
    ) -> ImageResponse {
        let stored = StoredResponse(
            status: 200, fields: origin, sent: [:], requestedAt: madeAt, receivedAt: madeAt)
        let age = Duration.seconds(90)
        return ImageResponse(
            body: ByteBuffer(string: body), format: .webp, size: PixelSize(width: 30, height: 20), sourceBytes: 1_234,
            digest: String(repeating: "0123456789abcdef", count: 4),
            lastModified: lastModified, age: age,
            remaining: remaining ?? stored.freshness(FreshnessPolicy()).lifetime - age,
            cachePolicy: ClientCachePolicy(stored, policy: FreshnessPolicy()), cache: cache,
            timings: Timings(fetch: .microseconds(31_250), process: .milliseconds(12), total: .microseconds(44_007)),
            fallbackReason: fallbackReason, placeholders: placeholders, quality: quality, gaps: gaps)
    }
}

extension Logger {
    /// Says nothing.
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension PurgeEndpoint {
    /// Finds nothing.
    static func idle() -> PurgeEndpoint {
        PurgeEndpoint { _, _, _, _, _ in
            PurgeReport()
        } removeExpired: {
            PurgeReport()
        }
    }
}

extension PrefetchEndpoint {
    /// Finds every picture at once.
    static func idle() -> PrefetchEndpoint { PrefetchEndpoint(prefetcher: Prefetcher { _ in .stub() }) }
}

extension Observability {
    /// Records nothing, and has constant readings.
    static func idle(
        metrics: any MetricsFactory = NOOPMetricsHandler.instance, serverState: ServerState = ServerState(),
        isCacheHealthy: @escaping @Sendable () -> Bool = { true }
    ) -> Self {
        let tier = CacheTier(entries: 1, bytes: 2, budgetBytes: 3, hits: 4, misses: 5)
        var observability = Observability(metrics: metrics, serverState: serverState) {
            CacheTiers(memory: tier, disk: nil, decoded: tier)
        } isCacheHealthy: {
            isCacheHealthy()
        }
        observability.exposition = { "# TYPE a gauge\na 1\n" }
        return observability
    }
}

extension ImageEndpoint {
    /// An endpoint whose images come from a closure, and have to be waited for.
    ///
    /// - Parameter inquired: what is said of each image at once instead.
    init(
        configuration: WebConfiguration, inquired: Inquired? = nil,
        location: @escaping @Sendable (ImageRequest) async -> CacheLocation = { _ in CacheLocation() },
        image: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse
    ) {
        self.init(
            configuration: configuration, gate: Gate(configuration),
            inquiries: Inquiries(lookup: Self.idlePipeline.lookup) { lookup, _, _ in
                inquired ?? .waits { () async throws(PipelineError) in try await image(lookup.request) }
            }, location: location, image: image)
    }

    private static let idlePipeline = ImagePipeline(memoryBytes: 0)
}

extension Endpoints {
    /// Endpoints that do nothing, except the given ones.
    static func idle(
        image: ImageEndpoint = ImageEndpoint(configuration: WebConfiguration()) { _ in .stub() },
        explain: ExplainEndpoint = .idle(), purge: PurgeEndpoint = .idle(), entries: EntriesEndpoint = .idle(),
        prefetch: PrefetchEndpoint = .idle(),
        srcset: SrcsetEndpoint = .describing(configuration: WebConfiguration()) { _ in .stub() },
        observability: Observability = .idle()
    ) -> Endpoints {
        Endpoints(
            image: image, explain: explain, purge: purge, entries: entries, prefetch: prefetch, srcset: srcset,
            observability: observability)
    }
}

extension SrcsetEndpoint {
    /// Sources of the same size, described in JSON where the closure returns an image.
    static func describing(
        _ document: String = #"{"format":"jpeg","width":4000,"height":3000,"orientation":1,"pages":1}"#,
        configuration: WebConfiguration,
        plan: @escaping @Sendable (ImageRequest) throws(PipelineError) -> ImagePlan = { _ in Explanation.plan },
        _ image: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse
    ) -> SrcsetEndpoint {
        SrcsetEndpoint(
            image: ImageEndpoint(configuration: configuration, image: image),
            describe: { request throws(PipelineError) in
                var response = try await image(request)
                response.body = ByteBuffer(string: document)
                return DescribedSource(response: response, original: nil)
            },
            size: { request, source throws(PipelineError) in
                do throws(TransformError) {
                    return try TransformChain(request.recipe, limits: PixelLimits()).size(for: source)
                } catch {
                    throw .badParameter(error)
                }
            }, plan: { request, _ throws(PipelineError) in try plan(request) })
    }
}

extension WebConfiguration {
    /// With this admin token.
    static func test(token: String?) -> WebConfiguration { WebConfiguration(adminToken: token, viaPseudonym: "us") }
}

extension ListenerConfiguration {
    /// The response to a request from 192.0.2.7.
    func respond(
        _ target: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:], body: String = ""
    ) async -> Response {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: target, headerFields: fields)
        return await response(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body))),
            from: IPAddress("192.0.2.7"), id: "request-7")
    }
}

/// All endpoints of a listener, whose images come from a closure.
struct TestSite {
    let listener: ListenerConfiguration

    init(
        listener: Listener = .main, configuration: WebConfiguration = .test(token: nil),
        purge: PurgeEndpoint = .idle(), prefetch: PrefetchEndpoint = .idle(),
        observability: Observability = .idle(),
        image: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse = { _ in .stub() }
    ) {
        var endpoints = Endpoints.idle(
            image: ImageEndpoint(configuration: configuration, image: image), purge: purge, prefetch: prefetch,
            srcset: .describing(configuration: configuration, image), observability: observability)
        endpoints.playground = PlaygroundEndpoint(configuration)
        self.init(endpoints, listener: listener, configuration: configuration)
    }

    /// - Parameter endpoints: of the same configuration.
    init(
        _ endpoints: Endpoints, listener: Listener = .main, configuration: WebConfiguration = WebConfiguration()
    ) {
        let observers = endpoints.observability.observers(logger: .quiet)
        self.listener = endpoints.configuration(of: listener, configuration, observers: observers)
    }

    func respond(
        _ target: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:], body: String = ""
    ) async throws -> Response {
        await listener.respond(target, method: method, fields: fields, body: body)
    }

    /// The problem in the response to a request.
    func problem(
        _ target: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:], body: String = ""
    ) async throws -> Problem.Document {
        let response = try await respond(target, method: method, fields: fields, body: body)
        return try JSONDecoder().decode(Problem.Document.self, from: Data(try await response.text().utf8))
    }
}

/// The members of an explanation that tell how a URL of another dialect was read.
struct DialectExplanation: Decodable {
    struct Request: Decodable { var canonical: String }
    struct Dialect: Decodable {
        struct Ignored: Decodable { var name: String }
        var name: String
        var ignored: [Ignored]
    }
    var request: Request
    var dialect: Dialect?
}

extension TestSite {
    /// A site that explains requests.
    static func explaining(_ configuration: WebConfiguration = .test(token: nil)) -> TestSite {
        let image = ImageEndpoint(configuration: configuration) { _ in .stub() }
        let explain = ExplainEndpoint(image: image) { _, _ throws(PipelineError) in .stub(plan: .missing("x")) }
        return TestSite(.idle(image: image, explain: explain), configuration: configuration)
    }

    /// The explanation at a target.
    func explanation(_ target: String) async throws -> DialectExplanation {
        try JSONDecoder().decode(DialectExplanation.self, from: Data(try await respond(target).text().utf8))
    }
}

/// A document as the server encodes it.
func encoded(_ document: some Encodable) -> Data { Data(ByteBuffer.json(document).readableBytesView) }

extension JSONDecoder {
    /// Decodes documents as the server encodes them.
    static var ofServer: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }
}

extension Decodable {
    /// Decodes an example of the contract.
    init(example: Node?) throws {
        let json = try ContractJSON.document(from: Yams.serialize(node: try #require(example)).utf8)
        self = try JSONDecoder.ofServer.decode(Self.self, from: Data(json.readableBytesView))
    }
}
