import AsyncHTTPClient
import DarkroomHTTPCaching
import DarkroomHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Sends encoded spans to a collector.
protocol SpanTransport: Sendable {
    func send(_ body: ByteBuffer) async -> SpanDelivery

    /// Closes connections. Nothing is sent afterward.
    func shutdown() async
}

/// A collector's answer, by the rules of OTLP/HTTP.
enum SpanDelivery: Equatable {
    /// - Parameter rejected: the number of spans that the collector rejected nevertheless.
    case accepted(rejected: Int = 0, reason: String = "")
    /// The request may be repeated, after the time for which the collector asks to wait, if it does.
    case postponed(for: Duration?, reason: String)
    /// The request must not be repeated.
    case refused(reason: String)
}

/// Sends spans by OTLP/HTTP with the JSON encoding. The endpoint is the operator's own, so it may be private.
struct HTTPSpanTransport: SpanTransport {
    private let client: HTTPClient
    /// The request without a body.
    private let request: HTTPClientRequest

    /// The limit of a whole exchange.
    private static let timeout = TimeAmount.seconds(10)
    private static let maxResponseBytes = 64 << 10
    /// The statuses with which a request may be repeated, according to the specification.
    private static let retryableStatuses = [429, 502, 503, 504]

    init(endpoint: String, fields: [(name: String, value: String)], eventLoopGroup: any EventLoopGroup) {
        var request = HTTPClientRequest(.POST, exactly: endpoint + "/v1/traces")
        request.headers.add(contentsOf: fields)
        request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
        self.request = request
        client = HTTPClient(eventLoopGroupProvider: .shared(eventLoopGroup), configuration: .exact())
    }

    func send(_ body: ByteBuffer) async -> SpanDelivery {
        var request = request
        request.body = .bytes(body)
        do {
            let response = try await client.execute(request, timeout: Self.timeout)
            let content = try await response.body.collect(upTo: Self.maxResponseBytes)
            return Self.delivery(status: Int(response.status.code), response.headers, content, now: Date())
        } catch {
            return .postponed(for: nil, reason: "\(error)")
        }
    }

    func shutdown() async {
        try? await client.shutdown()
    }

    static func delivery(status: Int, _ headers: HTTPHeaders, _ content: ByteBuffer, now: Date) -> SpanDelivery {
        if (200..<300).contains(status) {
            let rejection = try? JSONDecoder().decode(PartialSuccess.self, from: Data(content.readableBytesView))
            return .accepted(rejected: rejection?.rejectedSpans ?? 0, reason: rejection?.reason ?? "")
        }
        let reason = "the collector answered with status \(status)"
        guard retryableStatuses.contains(status) else { return .refused(reason: reason) }
        return .postponed(for: HTTPFields(received: headers).retryAfter(now: now), reason: reason)
    }
}

/// `ExportTraceServiceResponse` of a request with spans that the collector rejected.
private struct PartialSuccess: Decodable {
    let rejectedSpans: Int
    let reason: String

    private enum Keys: String, CodingKey { case partialSuccess, rejectedSpans, errorMessage }

    init(from decoder: any Decoder) throws {
        let details = try decoder.container(keyedBy: Keys.self).nestedContainer(
            keyedBy: Keys.self, forKey: .partialSuccess)
        // A 64-bit number is a text in this encoding, but receivers must accept both.
        let text = try? details.decode(String.self, forKey: .rejectedSpans)
        rejectedSpans = max(0, try text.flatMap(Int.init) ?? details.decode(Int.self, forKey: .rejectedSpans))
        let message = try details.decodeIfPresent(String.self, forKey: .errorMessage)
        reason = "the collector rejected spans: \(message?.prefix(200) ?? "")"
    }
}
