import DarkroomTracing
import Testing
import Tracing

struct TraceSamplerTests {
    private static let sampled = TraceParent(isSampled: true)
    private static let unsampled = TraceParent(isSampled: false)

    @Test(arguments: [
        (0.0, nil, false, false), (0, sampled, false, false), (0, sampled, true, true), (0, unsampled, true, false),
        (1, nil, false, true), (1, sampled, false, true), (1, sampled, true, true), (1, unsampled, false, false),
        (1, unsampled, true, false),
    ])
    func `A parent decides, but for a sampled one of an untrusted client, where the ratio does`(
        ratio: Double, parent: TraceParent?, isTrusted: Bool, isSampled: Bool
    ) {
        #expect(TraceSampler(ratio: ratio).samples(parent, isTrusted: isTrusted) == isSampled)
    }

    @Test(arguments: [0.001, 0.01, 0.25, 0.999])
    func `The ratio is the share of requests that are recorded`(ratio: Double) {
        for parent in [nil, Self.sampled] {
            let sampler = TraceSampler(ratio: ratio, seed: 42)
            let count = (0..<100_000).count { _ in sampler.samples(parent, isTrusted: false) }
            #expect(abs(Double(count) / 100_000 - ratio) < 0.005)
            #expect(count > 0)
        }
    }

    @Test func `Decisions do not follow a pattern`() {
        let sampler = TraceSampler(ratio: 0.5, seed: 42)
        let decisions = (0..<10_000).map { _ in sampler.samples(nil, isTrusted: false) }
        for period in 1...8 {
            let repeats = zip(decisions, decisions.dropFirst(period)).count { $0 == $1 }
            #expect((4_500...5_500).contains(repeats), "\(period)")
        }
    }
}

/// The place of a request in its trace.
struct TraceTests {
    private static let received = TraceParent(isSampled: true)

    @Test func `What is sent is sampled as the client's parent is, unless it was decided otherwise`() {
        let undecided = Trace(received: Self.received, state: nil)
        #expect(undecided.isSampled == nil)
        #expect(undecided.parent.isSampled)
        let dropped = Trace(received: Self.received, state: nil)
        dropped.decide(isSampled: false)
        #expect(!dropped.parent.isSampled)
        #expect(dropped.parent.traceID == Self.received.traceID)
        let new = Trace(received: nil, state: nil)
        new.decide(isSampled: true)
        #expect(new.traceID == nil)
        #expect(new.parent.isSampled)
        #expect(new.traceID == new.parent.traceID)
    }

    @Test func `The place of a recorded span is the parent of what is sent`() {
        let trace = Trace(recording: Self.received, state: TraceState(parsing: "a=1"))
        #expect(trace.parent == Self.received)
        #expect(trace.traceID == Self.received.traceID)
        #expect(trace.isSampled == true)
        #expect(trace.received == nil)
    }
}
