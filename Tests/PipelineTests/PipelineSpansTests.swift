import DarkroomOrigin
import DarkroomRequests
import DarkroomWaiting
import InMemoryTracing
import NIOCore
import Testing
import Tracing

@testable import DarkroomPipeline

/// The spans of a pipeline's work, by a tracer of the library's user.
@Suite(.timeLimit(.minutes(5)))
struct PipelineSpansTests {
    private let tracer = InMemoryTracer()

    private func spans() -> [String: FinishedInMemorySpan] {
        Dictionary(tracer.finishedSpans.map { ($0.operationName, $0) }) { first, _ in first }
    }

    private func nanoseconds(_ instant: any TracerInstant) -> UInt64 { instant.nanosecondsSinceEpoch }

    @Test func `A miss is a download, a wait for a thread and the stages of processing`() async throws {
        let bench = try Bench(.control("max-age=60"))
        try await withTracer(tracer) {
            try await tracer.withSpan("request") { _ in _ = try await bench.ask() }
        }
        let spans = spans()
        let names = ["request", "download", "queue", "process", "decode", "transform", "encode"]
        #expect(spans.keys.sorted() == names.sorted())
        #expect(tracer.finishedSpans.count == names.count)
        #expect(tracer.activeSpans.isEmpty)
        let (request, process) = (try #require(spans["request"]), try #require(spans["process"]))
        for name in ["download", "queue", "process"] { #expect(spans[name]?.parentSpanID == request.spanID, "\(name)") }
        for name in ["decode", "transform", "encode"] {
            #expect(spans[name]?.parentSpanID == process.spanID, "\(name)")
        }
        let ordered = try ["download", "queue", "decode", "transform", "encode"].map { try #require(spans[$0]) }
        for (earlier, later) in zip(ordered, ordered.dropFirst()) {
            #expect(nanoseconds(earlier.endInstant) <= nanoseconds(later.startInstant), "\(later.operationName)")
        }
        for span in ordered {
            #expect(nanoseconds(span.startInstant) >= nanoseconds(request.startInstant), "\(span.operationName)")
            #expect(nanoseconds(span.endInstant) <= nanoseconds(request.endInstant), "\(span.operationName)")
        }
        #expect(nanoseconds(ordered[2].startInstant) >= nanoseconds(process.startInstant))
        #expect(nanoseconds(ordered[4].endInstant) == nanoseconds(process.endInstant))
    }

    @Test func `Spans state what was downloaded and made, without paths and queries`() async throws {
        let bench = try Bench(.control("max-age=60"))
        _ = try await withTracer(tracer) { try await bench.ask("https://example.com:8443/secret.png?token=secret") }
        let (download, process) = (try #require(spans()["download"]), try #require(spans()["process"]))
        #expect(download.kind == .client)
        let body = try Pictures.red.get().readableBytes
        let expected: SpanAttributes = [
            "http.request.method": "GET", "url.scheme": "https", "server.address": "example.com", "server.port": 8443,
            "http.response.status_code": 200, "http.response.body.size": .int64(Int64(body)),
        ]
        #expect(download.attributes == expected)
        #expect(process.attributes.get("darkroom.source.format") == .string("png"))
        #expect(process.attributes.get("darkroom.width") == .int64(20))
    }

    @Test func `A download that fails is an error with the origin's status, and no secret`() async throws {
        let bench = try Bench()
        bench.origin.answer(.status(404))
        let error = try await withTracer(tracer) { try await bench.failure("http://example.com/secret.png") }
        #expect(error == .notFound(status: 404))
        let download = try #require(spans()["download"])
        #expect(download.status == SpanStatus(code: .error, message: "The origin has no such resource (status 404)."))
        #expect(download.attributes.get("error.type") == .string("404"))
        #expect(download.attributes.get("http.response.status_code") == .int64(404))
        #expect(tracer.finishedSpans.count == 1)
    }

    @Test func `Processing that fails is an error of its span, and has no stages`() async throws {
        let bench = try Bench()
        bench.processing.damage(page: PageSelection.primary)
        _ = try await withTracer(tracer) { try await bench.failure() }
        #expect(spans()["process"]?.status?.code == .error)
        #expect(spans()["process"]?.attributes.get("error.type") == .string("corrupt"))
        #expect(spans()["queue"]?.status == nil)
        #expect(spans()["decode"] == nil)
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test func `Shared work belongs to the trace of the request that started it`() async throws {
        let gate = Gate()
        let bench = try Bench(.control("max-age=60"), gate: gate)
        let other = InMemoryTracer()
        let first = Task { [tracer] in try await withTracer(tracer) { try await bench.ask() } }
        await gate.holds(1)
        let second = Task.immediate { try await withTracer(other) { try await bench.ask() } }
        #expect(bench.pipeline.resolver.fetcher.fetches.waiterCount == 2)
        gate.open()
        _ = try await (first.value, second.value)
        #expect(spans()["download"] != nil)
        #expect(other.finishedSpans.allSatisfy { $0.operationName != "download" })
        #expect((tracer.finishedSpans + other.finishedSpans).count { $0.operationName == "encode" } == 1)
    }

    @Test func `Hits and background work have no spans`() async throws {
        let bench = try Bench(.control("max-age=60"))
        try await bench.ask()
        _ = try await withTracer(tracer) { try await bench.ask() }
        var request = try bench.request("http://example.com/b.png")
        request.priority = .background
        _ = try await withTracer(tracer) { [request] in try await bench.pipeline.image(for: request) }
        #expect(tracer.finishedSpans.isEmpty && tracer.activeSpans.isEmpty)
    }
}
