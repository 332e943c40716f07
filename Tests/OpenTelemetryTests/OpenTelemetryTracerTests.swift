import DarkroomTracing
import Testing
import Tracing

@testable import DarkroomOpenTelemetry

/// The tracer as swift-distributed-tracing's callers use it.
struct OpenTelemetryTracerTests {
    private let queue = SpanQueue()
    private var tracer: OpenTelemetryTracer { OpenTelemetryTracer(queue) }

    private struct Carrier: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    private func context(_ fields: [String: String]) -> ServiceContext {
        var context = ServiceContext.topLevel
        tracer.extract(fields, into: &context, using: Carrier())
        return context
    }

    private func sent(from context: ServiceContext) -> TraceParent? {
        var fields: [String: String] = [:]
        tracer.inject(context, into: &fields, using: Carrier())
        return fields["traceparent"].flatMap { TraceParent(parsing: $0) }
    }

    private func at(_ nanoseconds: UInt64) -> DefaultTracerClock.Timestamp {
        DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: nanoseconds)
    }

    @Test func `A span continues the trace of its context, and nested spans are its children`() throws {
        let parent = TraceParent(isSampled: true)
        let received = context(["traceparent": parent.text, "tracestate": "a=1"])
        tracer.withSpan("outer", context: received, ofKind: .server) { outer in
            tracer.withSpan("inner", ofKind: .client) { inner in
                #expect(sent(from: inner.context)?.spanID == inner.context.trace?.span?.spanID)
                #expect(sent(from: inner.context)?.isSampled == true)
                #expect(ServiceContext.current?.trace?.traceID == parent.traceID)
            }
        }
        let spans = queue.take(atMost: 10)
        let (inner, outer) = (try #require(spans.first), try #require(spans.last))
        #expect(spans.map(\.name) == ["inner", "outer"])
        #expect(Set(spans.map(\.span.traceID)) == [parent.traceID])
        #expect(outer.parentID == parent.spanID)
        #expect(outer.isParentRemote)
        #expect(outer.traceState == "a=1")
        #expect(inner.parentID == outer.span.spanID)
        #expect(!inner.isParentRemote)
        #expect(inner.traceState == "a=1")
        #expect(Set([inner.span.spanID, outer.span.spanID, parent.spanID]).count == 3)
        #expect(outer.start <= inner.start && inner.end <= outer.end)
    }

    @Test func `A span without a context begins a trace`() throws {
        let (first, second) = (tracer.startSpan("a", context: .topLevel), tracer.startSpan("b", context: .topLevel))
        first.end()
        second.end()
        let spans = queue.take(atMost: 10)
        #expect(spans.allSatisfy { $0.parentID == nil && !$0.isParentRemote })
        #expect(Set(spans.map(\.span.traceID)).count == 2)
    }

    @Test func `A trace that is not sampled records nothing, and its requests say so`() throws {
        let never = OpenTelemetryTracer(sampler: TraceSampler(ratio: 0), queue: queue)
        for fields in [[:], ["traceparent": TraceParent(isSampled: true).text]] {
            let outer = never.startSpan("outer", context: context(fields), ofKind: .server)
            let inner = never.startSpan("inner", context: outer.context)
            #expect(!outer.isRecording && !inner.isRecording)
            #expect(sent(from: inner.context)?.isSampled == false)
            #expect(fields["traceparent"] == nil || inner.context.trace?.traceID == outer.context.trace?.traceID)
            inner.attributes["a"] = 1
            #expect(inner.attributes.isEmpty)
            inner.end()
            outer.end()
        }
        // The decision of a trace holds for its later spans.
        let root = never.startSpan("root", context: .topLevel)
        #expect(!tracer.startSpan("child", context: root.context).isRecording)
        #expect(queue.count == 0)
    }

    @Test func `A decision that was made before is followed`() {
        let context = context([:])
        context.trace?.decide(isSampled: false)
        #expect(!tracer.startSpan("a", context: context, ofKind: .server).isRecording)
        let never = OpenTelemetryTracer(sampler: TraceSampler(ratio: 0), queue: queue)
        let sampled = self.context([:])
        sampled.trace?.decide(isSampled: true)
        #expect(never.startSpan("a", context: sampled, ofKind: .server).isRecording)
    }

    @Test func `A span records until its first end`() throws {
        struct Failure: Error, CustomStringConvertible { let description = "no luck" }
        let span = tracer.startSpan("a", context: .topLevel, at: at(50))
        span.operationName = "b"
        span.attributes["key"] = "value"
        span.addEvent(SpanEvent(name: "event", at: at(60)))
        span.addLink(SpanLink(context: tracer.startSpan("other", context: .topLevel).context, attributes: [:]))
        span.recordError(Failure(), attributes: ["more": true], at: at(70))
        span.setStatus(SpanStatus(code: .error, message: "failed"))
        #expect(span.isRecording)
        span.end(at: at(80))
        span.end(at: at(90))
        span.attributes["late"] = 1
        #expect(!span.isRecording)
        let record = try #require(queue.take(atMost: 10).first)
        #expect(queue.count == 0)
        #expect(record.name == "b")
        #expect((record.start, record.end) == (50, 80))
        #expect(record.attributes == ["key": "value"])
        #expect(record.events.map(\.name) == ["event", "exception"])
        let expected: SpanAttributes = [
            "exception.type": "Failure", "exception.message": "no luck", "more": true,
        ]
        #expect(record.events.last?.attributes == expected)
        #expect(record.links.count == 1)
        #expect(record.status == SpanStatus(code: .error, message: "failed"))
    }

    @Test func `A span ends no earlier than it starts, and has a bounded number of events and links`() throws {
        let span = tracer.startSpan("a", context: .topLevel, at: at(50))
        for _ in 0..<130 {
            span.addEvent("event")
            span.addLink(SpanLink(context: span.context, attributes: [:]))
        }
        span.end(at: at(40))
        let record = try #require(queue.take(atMost: 10).first)
        #expect(record.end == 50)
        #expect(record.events.count == 128 && record.droppedEvents == 2)
        #expect(record.links.count == 128 && record.droppedLinks == 2)
    }
}
