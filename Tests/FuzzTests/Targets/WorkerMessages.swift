import DarkroomTransforms
import Testing

@testable import DarkroomWorkers

extension FuzzTests {
    @Test func `a reply of a worker is malformed, or the same when it is written again`() throws {
        let statistics = DecodedStatistics(entries: 1, bytes: 2, hits: 3, misses: 4)
        let outcomes: [WorkerReply.Outcome] = [
            .done, .image(.blank), .plan(Self.plan), .failure(.corrupt("a")), .failure(.tooLarge("b")),
            .probes([ProbeResult(name: "c", failure: 1)]),
        ]
        let seeds = try outcomes.map { try Self.written(WorkerReply(outcome: $0, decoded: statistics)) }
        fuzzer.run("worker-reply", bytes: seeds) { input in
            guard let reply = Self.read(WorkerReply.self, input) else { return }
            try hold(try Self.isStable(reply), "\(reply)")
            if case .plan(let plan) = reply.outcome { _ = plan.isPlausible }
        }
    }

    @Test func `a request to a worker is malformed, or the same when it is written again`() throws {
        let requests: [WorkerRequest] = [
            .plan(.blank), .process(.blank), .go, .drop, .cancel, .shrink(fraction: 0.5), .removeDecoded(identity: "a"),
        ]
        fuzzer.run("worker-request", bytes: try requests.map(Self.written)) { input in
            guard let request = Self.read(WorkerRequest.self, input) else { return }
            try hold(try Self.isStable(request), "\(request)")
        }
    }

    private static let plan = ImagePlan(
        sourceFormat: .png, sourceSize: PixelSize(width: 3, height: 4), sourceFrames: 1, sourceBytes: 5, framesUsed: 1,
        shrinkOnLoad: 2, steps: [ImagePlan.Step(name: "decode", size: PixelSize(width: 3, height: 4))], format: .webp,
        size: PixelSize(width: 1, height: 2), frames: 1, isExact: true, largest: PixelSize(width: 3, height: 4),
        estimatedMemoryBytes: 6)

    private static func written(_ message: some WireValue) throws -> [UInt8] {
        var coder = WireCoder()
        _ = try coder.coded(message)
        return coder.written
    }

    /// Not the input itself: texts that are too long are cut, for example.
    private static func isStable<Message: WireValue>(_ message: Message) throws -> Bool {
        let bytes = try written(message)
        return try read(Message.self, bytes).map(written) == bytes
    }

    private static func read<Message: WireValue>(_ type: Message.Type, _ bytes: [UInt8]) -> Message? {
        bytes.withUnsafeBytes { bytes in
            guard var coder = try? WireCoder(reading: bytes) else { return nil }
            return try? coder.coded(Message.blank)
        }
    }
}
