import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms
@testable import DarkroomWorkers

extension FuzzTests {
    @Test func `A reply of a worker is malformed, or the same when it is written again`() throws {
        let statistics = DecodedStatistics(entries: 1, bytes: 2, hits: 3, misses: 4)
        let outcomes: [WorkerReply.Outcome] = [
            .done, .image(Self.image, nil), .image(Self.image, Self.plan), .plan(Self.plan), .failure(.corrupt("a")),
            .failure(.mark(.tooLarge("b"))),
            .probes([ProbeResult(name: "c", failure: 1)]),
        ]
        let seeds = try outcomes.map { try Self.written(WorkerReply(outcome: $0, decoded: statistics)) }
        fuzzer.run("worker-reply", bytes: seeds) { input in
            guard let reply = Self.read(WorkerReply.self, input) else { return }
            try hold(try Self.isStable(reply), "\(reply)")
            if case .plan(let plan) = reply.outcome { _ = plan.isPlausible }
            if case .image(let image, _) = reply.outcome { _ = image.isPlausible(for: Self.job) }
            if case .failure(let error) = reply.outcome { _ = error.shortened }
        }
    }

    @Test func `A request to a worker is malformed, or the same when it is written again`() throws {
        let requests: [WorkerRequest] = [
            .plan, .process, .go, .drop, .cancel, .shrink(fraction: 0.5), .removeDecoded(identity: "a"),
            .attempt(JobAllowance(memoryBytes: 1, work: 2)),
        ]
        fuzzer.run("worker-request", bytes: try requests.map(Self.written)) { input in
            guard let request = Self.read(WorkerRequest.self, input) else { return }
            try hold(try Self.isStable(request), "\(request)")
        }
    }

    @Test func `A job for a worker is malformed, or the same when it is written again`() throws {
        fuzzer.run("worker-job", bytes: [try Self.written(Self.job)]) { input in
            guard let job = Self.read(ImageJob.self, input) else { return }
            try hold(try Self.isStable(job), "\(job)")
        }
    }

    private static let job: ImageJob = {
        var recipe = Recipe()
        recipe.box = Box(width: 3, height: nil)
        recipe.position = .focal(x: 0.1, y: 0.2)
        recipe.text = Text("a")
        return ImageJob(
            source: ByteBuffer(), identity: "b", chain: TransformChain(recipe), output: OutputOptions(format: .png))
    }()

    private static let image = ProcessedImage(
        body: ByteBuffer(), format: .png, size: PixelSize(width: 1, height: 2), frames: 3, sourceFormat: .svg,
        quality: ResultQuality(value: 4), stages: ProcessingStages(decode: .seconds(5)))

    private static let plan = ImagePlan(
        sourceFormat: .png, sourceSize: PixelSize(width: 3, height: 4), sourceFrames: 1, sourceBytes: 5, framesUsed: 1,
        shrinkOnLoad: 2, steps: [ImagePlan.Step(name: "decode", size: PixelSize(width: 3, height: 4))], format: .webp,
        size: PixelSize(width: 1, height: 2), frames: 1, isExact: true, largest: PixelSize(width: 3, height: 4),
        estimatedMemoryBytes: 6)

    private static func written(_ message: some Encodable) throws -> [UInt8] {
        try Array(WireEncoder.bytes(of: message).readableBytesView)
    }

    private static func isStable<Message: Codable & Sendable>(_ message: Message) throws -> Bool {
        let bytes = try written(message)
        return try read(Message.self, bytes).map(written) == bytes
    }

    private static func read<Message: Decodable & Sendable>(_ type: Message.Type, _ bytes: [UInt8]) -> Message? {
        var bytes = ByteBuffer(bytes: bytes)
        return try? WireDecoder.read(type, from: &bytes)
    }
}
