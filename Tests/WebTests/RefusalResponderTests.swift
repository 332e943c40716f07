import CoreMetrics
import DarkroomDialects
import DarkroomPipeline
import DarkroomQuery
import NIOCore
import NIOHTTP1
import Testing

@testable import DarkroomHTTPServer
@testable import DarkroomWeb

struct RefusalResponderTests {
    private func response(
        to target: String, _ configuration: WebConfiguration, _ fields: HTTPHeaders = [:]
    ) throws -> FastResponse? {
        let endpoint = ImageEndpoint(configuration: configuration) { _ in .stub() }
        let routes = (endpoint.routes + endpoint.pathRoutes + endpoint.infoRoutes).map(\.path)
        let responder = RefusalResponder(
            endpoint: endpoint, rateLimit: RateLimit(configuration, limiter: RateLimiter()),
            imageMetrics: ImageMetrics(NOOPMetricsHandler.instance), routes: RouteTable(paths: routes),
            requestMetrics: RequestMetrics(NOOPMetricsHandler.instance, kinds: ProblemKind.all)
        ) {
            true
        } refusal: { _, _ in
            .overloaded(retryAfterSeconds: 1)
        }
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target, headers: fields)
        return responder.response(to: try #require(FastRequest(head, from: nil)))
    }

    private func vary(of fields: HTTPHeaders, _ configuration: WebConfiguration) throws -> String? {
        let lines = try response(to: "/image?url=http://a.org/b", configuration, fields)
            .map { String(buffer: $0.head).split(separator: "\r\n") }
        return lines?.first { $0.lowercased().hasPrefix("vary: ") }.map { String($0.dropFirst(6)) }
    }

    @Test func `A refusal varies by the fields that an image would`() throws {
        var configuration = WebConfiguration()
        #expect(try vary(of: [:], configuration) == "Accept, Sec-Fetch-Dest")
        configuration.negotiation.usesClientHints = true
        #expect(try vary(of: [:], configuration) == "Accept, Sec-CH-DPR, Sec-CH-Width, Sec-Fetch-Dest")
        // With hints, the endpoint refuses.
        #expect(try vary(of: ["Sec-CH-DPR": "2"], configuration) == nil)
    }

    @Test func `Paths of another service are refused as early, and by their rules`() throws {
        var configuration = WebConfiguration()
        let path = "/unsafe/300x200/a.org/b.jpg"
        #expect(try response(to: path, configuration) == nil)
        configuration.pathDialect = Thumbor()
        let refusal = try #require(try response(to: path, configuration))
        #expect(refusal.status == 503 && refusal.metrics.route == "/{signature}/**")
        #expect(String(buffer: refusal.head).contains("Cross-Origin-Resource-Policy: cross-origin\r\n"))
        // What the server's own routes begin with is theirs, and the endpoint answers what cannot be read.
        for other in ["/info/300x200/a.org/b.jpg", "/unsafe/filters:none()/a.org/b.jpg", "/unsafe"] {
            #expect(try response(to: other, configuration) == nil, "\(other)")
        }
        configuration.pathDialect = Thumbor(key: ThumborKey("secret"))
        #expect(try response(to: path, configuration) == nil)
        let signed = ThumborKey("secret").sign("300x200/a.org/b.jpg")
        #expect(try response(to: "/\(signed)/300x200/a.org/b.jpg", configuration)?.status == 503)
    }
}
