import CoreMetrics
import DarkroomPipeline
import DarkroomQuery
import NIOCore
import NIOHTTP1
import Testing

@testable import DarkroomHTTPServer
@testable import DarkroomWeb

struct RefusalResponderTests {
    private func vary(of fields: HTTPHeaders, _ configuration: WebConfiguration) throws -> String? {
        let responder = RefusalResponder(
            endpoint: ImageEndpoint(configuration: configuration) { _ in .stub() },
            rateLimit: RateLimit(configuration, limiter: RateLimiter()),
            imageMetrics: ImageMetrics(NOOPMetricsHandler.instance),
            routeMetrics: RequestMetrics(NOOPMetricsHandler.instance, kinds: ProblemKind.all).of(route: "/image")
        ) {
            true
        } refusal: { _, _ in
            .overloaded(retryAfterSeconds: 1)
        }
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/image?url=http://a.org/b", headers: fields)
        let request = try #require(FastRequest(head, from: nil))
        let lines = responder.response(to: request).map { String(buffer: $0.head).split(separator: "\r\n") }
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
}
