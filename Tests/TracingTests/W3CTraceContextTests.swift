import DarkroomTracing
import Testing
import Tracing

/// Conformance with W3C Trace Context, level 1.
struct W3CTraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    /// Extracts from and injects into a dictionary.
    private struct Carrier: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    /// The fields sent on for these received fields.
    private func passed(_ fields: [String: String]) -> [String: String] {
        var (context, sent) = (ServiceContext.topLevel, [String: String]())
        W3CTraceContext().extract(fields, into: &context, using: Carrier())
        W3CTraceContext().inject(context, into: &sent, using: Carrier())
        return sent
    }

    @Test(arguments: [
        ("00-\(trace)-\(span)-00", false), ("00-\(trace)-\(span)-01", true), ("00-\(trace)-\(span)-ff", true),
        ("00-\(trace)-\(span)-fe", false), ("01-\(trace)-\(span)-01", true),
        ("cc-\(trace)-\(span)-01-what-the-future", true),
        ("fe-\(trace)-\(span)-00-", false),
    ])
    func `A valid parent is carried on in version 00, with a span of our own`(text: String, isSampled: Bool) throws {
        let sent = try #require(passed(["traceparent": text])["traceparent"])
        let parent = try #require(TraceParent(parsing: sent))
        #expect(sent.hasPrefix("00-\(Self.trace)-"))
        #expect(sent.hasSuffix(isSampled ? "-01" : "-00"))
        #expect(parent.spanID != Self.span)
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-0", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-x",
        "ff-\(trace)-\(span)-01", "cc-\(trace)-\(span)-01x", "0-\(trace)-\(span)-01",
        "00-\(trace.uppercased())-\(span)-01",
        "00-\(trace)-\(span.uppercased())-01", "00-\(String(repeating: "0", count: 32))-\(span)-01",
        "00-\(trace)-\(String(repeating: "0", count: 16))-01", "00-\(trace)-\(span)-0g", " 00-\(trace)-\(span)-01",
        "00_\(trace)_\(span)_01", "00-\(trace)-\(span)-01, 00-\(trace)-\(span)-01", "0x-\(trace)-\(span)-01",
        "00-\(trace)-\(span)-+1", "é0-\(trace)-\(span)-01",
    ])
    func `Without a valid parent a trace begins here, unsampled, and foreign state is dropped`(text: String) throws {
        let sent = passed(["traceparent": text, "tracestate": "a=1"])
        #expect(TraceParent(parsing: text) == nil)
        let parent = try #require(TraceParent(parsing: sent["traceparent"] ?? ""))
        #expect(parent.traceID != Self.trace)
        #expect(!parent.isSampled)
        #expect(sent["tracestate"] == nil)
    }

    @Test func `Each request has a span of its own, and a new trace is like no other`() {
        let parents = (0..<100).map { _ in TraceParent() }
        #expect(Set(parents.map(\.traceID)).count == 100)
        #expect(Set((0..<100).map { _ in parents[0].child(isSampled: true).spanID }).count == 100)
        #expect(parents.allSatisfy { TraceParent(parsing: $0.text) == $0 })
    }

    @Test func `A trace that begins here begins when it is first sent on, and stays the same`() throws {
        var (context, first, second) = (ServiceContext.topLevel, [String: String](), [String: String]())
        W3CTraceContext().extract([:], into: &context, using: Carrier())
        #expect(context.trace != nil)
        #expect(context.trace?.traceID == nil)
        W3CTraceContext().inject(context, into: &first, using: Carrier())
        W3CTraceContext().inject(context, into: &second, using: Carrier())
        let parent = try #require(TraceParent(parsing: first["traceparent"] ?? ""))
        #expect(context.trace?.traceID == parent.traceID)
        #expect(second == first)
    }

    @Test(arguments: [
        ("a=1", "a=1"), ("a=1,b=2", "a=1,b=2"), (" a=1 ,\tb=2\t,, ", "a=1,b=2"), ("1t@sys=x y", "1t@sys=x y"),
        ("a_-*/9=!~", "a_-*/9=!~"), ("a= b", "a= b"), ("b=2,a=1", "b=2,a=1"),
        ("\(String(repeating: "k", count: 256))=v,a=1", "\(String(repeating: "k", count: 256))=v,a=1"),
    ])
    func `Valid state is carried on as it is`(given: String, sent: String) {
        #expect(passed(["traceparent": "00-\(Self.trace)-\(Self.span)-00", "tracestate": given])["tracestate"] == sent)
    }

    @Test(arguments: [
        "", ",", "a", "=1", "a=", "A=1", "1=1", "a=1=2", "a=ä", "a=1,b", "a=1,a=2", "a@1b=1", "@b=1", "a@=1", "a@b@c=1",
        "a b=1", "a=\u{7}", "\(String(repeating: "k", count: 257))=1", "a=\(String(repeating: "v", count: 257))",
        "a@\(String(repeating: "s", count: 15))=1",
        (0..<33).map { "k\($0)=1" }.joined(separator: ","),
    ])
    func `Invalid state is dropped, and the parent is not`(given: String) {
        let sent = passed(["traceparent": "00-\(Self.trace)-\(Self.span)-00", "tracestate": given])
        #expect(sent["tracestate"] == nil)
        #expect(sent["traceparent"]?.contains(Self.trace) == true)
    }

    @Test func `Long state loses its longest members first, then its last ones`() throws {
        let short = (0..<10).map { "k\($0)=\(String(repeating: "v", count: 60))" }
        let long = "long=\(String(repeating: "v", count: 200))"
        let text = ([long] + short).joined(separator: ",")
        let state = try #require(TraceState(parsing: text)).text
        #expect(state == short.prefix(8).joined(separator: ","))
        #expect(state.utf8.count <= 512)
    }
}
