import DarkroomTracing
import Foundation
import NIOCore
import NIOFoundationCompat
import Tracing

@testable import DarkroomOpenTelemetry

extension OpenTelemetryTracer {
    /// A tracer that records everything.
    init(_ queue: SpanQueue) {
        self.init(sampler: TraceSampler(ratio: 1), queue: queue)
    }
}

extension SpanQueue {
    /// Adds spans named `0`, `1` …
    func add(_ count: Int) {
        for index in 0..<count { OpenTelemetryTracer(self).startSpan("\(index)", context: .topLevel).end() }
    }
}

extension TelemetryResource {
    static let test = TelemetryResource(version: "9.8.7", environment: [:], host: "machine", instance: "instance-1")
}

extension ByteBuffer {
    /// The names of the spans in a request to a collector.
    var spanNames: [String] {
        struct Message: Decodable {
            struct ResourceSpans: Decodable { let scopeSpans: [ScopeSpans] }
            struct ScopeSpans: Decodable { let spans: [Span] }
            struct Span: Decodable { let name: String }
            let resourceSpans: [ResourceSpans]
        }
        let message = try? JSONDecoder().decode(Message.self, from: self)
        return message?.resourceSpans.flatMap(\.scopeSpans).flatMap(\.spans).map(\.name) ?? []
    }
}
