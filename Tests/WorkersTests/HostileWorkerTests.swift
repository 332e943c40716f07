import DarkroomCMemory
import DarkroomCSandbox
import DarkroomMachine
import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore
import Testing

@testable import DarkroomWorkers

/// A compromised worker may send anything; nothing that it sends may harm the server.
@Suite(.timeLimit(.minutes(5)), .enabled(if: WorkerSite.isSupported))
struct HostileWorkerTests {
    static let replies: [String: [UInt8]] = {
        let done = WorkerReply(outcome: .done, decoded: DecodedStatistics())
        let honest = ProcessedImage(
            body: ByteBuffer(), format: .png, size: PixelSize(width: 1, height: 1), frames: 1, sourceFormat: .svg)
        let image = WorkerReply(outcome: .image(honest, nil), decoded: DecodedStatistics())
        let large = WorkerReply(outcome: .done, decoded: DecodedStatistics(bytes: .max))
        let sane = (try? done.encoded) ?? []
        return [
            "nonsense": Array("nonsense".utf8), "the version alone": [WireEncoder.version], "no reply to a job": sane,
            "another version": [1] + sane.dropFirst(), "an unknown kind": (try? Unknown(outcome: .other).encoded) ?? [],
            "a kind without its payload": (try? Unknown(outcome: .image).encoded) ?? [],
            "half of a reply": Array(sane.prefix(sane.count / 2)), "something after the reply": sane + [0],
            "an image without its bytes": (try? image.encoded) ?? [],
            "numbers that would overflow a sum": (try? large.encoded) ?? [],
        ]
    }()

    @Test(arguments: replies.keys.sorted())
    func `A worker that says what no worker says is replaced`(name: String) async throws {
        let reply = try #require(Self.replies[name])
        let site = try await WorkerSite(script: "hello; take; \(ScriptLauncher.saying(reply)); take")
        #expect(throws: ImageProcessingError.corrupt("decoding corrupted a worker: its reply violated the protocol")) {
            try site.processor.process(.drawing()) { false }
        }
        #expect(site.processor.statistics.ended == [.protocolViolation: 1])
    }

    @Test func `A worker that plans one job cannot answer another in its place`() async throws {
        let plan = WorkerReply(
            outcome: .plan(try InProcessImageProcessor().plan(.drawing())), decoded: DecodedStatistics())
        let saying = try ScriptLauncher.saying(plan)
        let site = try await WorkerSite(script: "hello; take; \(saying); take; \(saying); take")
        _ = try site.processor.plan(.drawing())
        #expect(throws: ImageProcessingError.corrupt("decoding corrupted a worker: its reply violated the protocol")) {
            try site.processor.process(.drawing()) { false }
        }
    }

    @Test func `A worker that processes more than it was allowed to is replaced`() async throws {
        let plan = try InProcessImageProcessor().plan(.drawing())
        let image = ProcessedImage(
            body: ByteBuffer(), format: .png, size: PixelSize(width: 20, height: 20), frames: 1, sourceFormat: .png)
        for plan: ImagePlan? in [plan, nil] {
            let reply = WorkerReply(outcome: .image(image, plan), decoded: DecodedStatistics())
            let saying = ScriptLauncher.saying(try reply.encoded + [1])
            let site = try await WorkerSite(script: "hello; take; \(saying); take")
            let allowance = JobAllowance(memoryBytes: 1, work: 0)
            let error = ImageProcessingError.corrupt("decoding corrupted a worker: its reply violated the protocol")
            #expect(throws: error) { try site.processor.attempt(.drawing(), within: allowance) { false } }
            #expect(site.processor.statistics.ended == [.protocolViolation: 1])
        }
    }

    @Test func `A worker that hangs up and stays is killed`() async throws {
        let site = try await WorkerSite(script: "hello; take; exec 3>&-; exec 3<&-; exec sleep 1000")
        #expect(throws: ImageProcessingError.self) { try site.processor.process(.drawing()) { false } }
        #expect(site.processor.statistics.ended[.crashed] == 3)
    }

    @Test func `Bytes that end a worker when their header is read are refused at once when they are to be decoded`()
        async throws
    {
        let site = try await WorkerSite(script: "hello; take")
        let error = try #require(throws: ImageProcessingError.self) {
            try site.processor.plan(.drawing()) { false }
        }
        #expect(throws: error) { try site.processor.process(.drawing()) { false } }
        #expect(site.processor.statistics.refused == 1)
    }

    @Test func `A header that is read indefinitely is given up with the request`() async throws {
        let site = try await WorkerSite(script: "hello; take; take; exec sleep 1000")
        #expect(throws: ImageProcessingError.interrupted) { try site.processor.plan(.drawing()) { true } }
    }

    private func sockets() throws -> (MessageSocket, MessageSocket) {
        var pair: [Int32] = [-1, -1]
        #expect(darkroom_socket_pair(&pair, 1 << 18) == 0)
        return (MessageSocket(descriptor: pair[0]), MessageSocket(descriptor: pair[1]))
    }

    @Test func `Memory comes through unchanged`() throws {
        let (here, there) = try sockets()
        defer {
            close(here.descriptor)
            close(there.descriptor)
        }
        let bytes = ByteBuffer(bytes: (0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        let sealed = try MemoryFile(copying: bytes)
        try here.send(WorkerRequest.removeDecoded(identity: "a"), attached: sealed.descriptor)
        let received = try there.receive(WorkerRequest.self)
        #expect(received.message == .removeDecoded(identity: "a"))
        #expect(received.memory?.buffer == bytes)
        #expect(write(try #require(received.memory).descriptor, [1], 1) < 0)
    }

    @Test func `Memory that could still change, or is none, is not looked at`() throws {
        let (here, there) = try sockets()
        defer {
            close(here.descriptor)
            close(there.descriptor)
        }
        for file in [darkroom_memory_file(), Foundation.open("/dev/zero", O_RDONLY)] {
            try here.send(WorkerRequest.go, attached: file)
            close(file)
            #expect(throws: WireError.malformed) { try there.receive(WorkerRequest.self) }
        }
    }

    @Test func `A message that is too long is none`() throws {
        let (here, there) = try sockets()
        defer { close(here.descriptor) }
        let long = [UInt8](repeating: WireEncoder.version, count: MessageSocket.maxFieldBytes + 1)
        #expect(write(there.descriptor, long, long.count) == long.count)
        #expect(throws: WireError.malformed) { try here.receive(WorkerRequest.self) }
        #expect(throws: WireError.malformed) {
            try here.send(String(repeating: "a", count: WireEncoder.maxTextBytes + 1))
        }
        close(there.descriptor)
        #expect(throws: WireError.closed) { try here.receive(WorkerRequest.self) }
        #expect(throws: WireError.closed) { try here.send("a") }
    }

    @Test func `A picture is only what was wanted`() throws {
        let job = ImageJob.drawing(format: .png)
        let honest = ProcessedImage(
            body: ByteBuffer(), format: .png, size: PixelSize(width: 1, height: 1), frames: 1, sourceFormat: .svg,
            stages: ProcessingStages(decode: .zero, transform: .zero))
        #expect(honest.isPlausible(for: job))
        var other = honest
        other.format = .json
        #expect(!other.isPlausible(for: job))
        var natural = job
        natural.output = OutputOptions()
        #expect(!other.isPlausible(for: natural))
        for change in [\ProcessedImage.size.width, \.size.height, \.frames] {
            for number in [0, .max] {
                var wrong = honest
                wrong[keyPath: change] = number
                #expect(!wrong.isPlausible(for: job))
            }
        }
        var copied = honest
        copied.quality = .ofSource()
        #expect(!copied.isPlausible(for: job))
        var passing = job
        passing.output = OutputOptions(format: .png, passthrough: .auto)
        #expect(copied.isPlausible(for: passing))
        var transcoded = copied
        passing.output = OutputOptions(format: .jxl)
        transcoded.format = .jxl
        #expect(!transcoded.isPlausible(for: passing))
        transcoded.sourceFormat = .jpeg
        #expect(transcoded.isPlausible(for: passing))
        for duration in [Duration.nanoseconds(-1), .seconds(Int64.max), .seconds(Int64.min)] {
            for stages in [
                ProcessingStages(decode: duration), ProcessingStages(transform: duration),
                ProcessingStages(encode: duration),
            ] {
                var wrong = honest
                wrong.stages = stages
                #expect(!wrong.isPlausible(for: job))
            }
        }
        for code: UInt8 in [101, 127, 229] {
            #expect(throws: WireError.self) { try ResultQuality.decoding([3, code]) }
        }
    }

    @Test func `Its sentences are not longer than a sentence`() async throws {
        for (character, count) in [("a", 1000), ("\u{1F469}\u{200D}\u{1F680}", 0)] {
            let long = ImageProcessingError.mark(.tooLarge(String(repeating: character, count: 5000))).shortened
            guard case .mark(.tooLarge(let text), _) = try ImageProcessingError.decoding(long.encoded) else {
                Issue.record("\(long)")
                continue
            }
            #expect(text.utf8.count <= WireEncoder.maxTextBytes && (count == 0 || text.count == count))
        }
        // From a worker that does not cut them.
        let reply = WorkerReply(
            outcome: .failure(.tooLarge(String(repeating: "a", count: 4000))), decoded: DecodedStatistics())
        let site = try await WorkerSite(script: "hello; take; \(ScriptLauncher.saying(reply)); take")
        #expect(throws: ImageProcessingError.tooLarge(String(repeating: "a", count: 1000))) {
            try site.processor.process(.drawing()) { false }
        }
    }
}

/// A reply whose kind is not one of ``WorkerReply/Outcome``, or whose kind lacks its payload.
private struct Unknown: Encodable {
    enum Outcome: Encodable { case image, other }
    let outcome: Outcome
    let decoded = DecodedStatistics()
}
