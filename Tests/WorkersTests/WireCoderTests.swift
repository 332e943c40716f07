import DarkroomTransforms
import NIOCore
import Testing

@testable import DarkroomWorkers

struct WireCoderTests {
    private static func requests() throws -> [WorkerRequest] {
        let jobs = try WorkerJobTests.recipes.map { recipe in
            var job = ImageJob.drawing()
            job.chain = TransformChain(recipe)
            return try #require(WireJob(job))
        }
        return jobs.flatMap { [.plan($0), .process($0)] } + [
            .go, .drop, .removeDecoded(identity: "a"), .shrink(fraction: 0.5), .cancel, .probe, .mark,
        ]
    }

    private static func replies() throws -> [WorkerReply] {
        let failures: [ImageProcessingError] = [
            .unsupported, .corrupt("a"), .tooLarge("b"), .interrupted, .transformFailed("c"), .encodingFailed("d"),
            .badParameter(TransformError(parameter: "e", reason: "f")), .missingDecoder(.heic),
        ]
        let outcomes: [WorkerReply.Outcome] =
            failures.map { .failure($0) } + [
                .done, .plan(try InProcessImageProcessor().plan(.drawing())),
                .probes([ProbeResult(name: "a", failure: 1)]),
            ]
        let statistics = DecodedStatistics(entries: 1, bytes: 2, hits: 3, misses: 4)
        return outcomes.map { WorkerReply(outcome: $0, decoded: statistics) }
    }

    @Test func `A message is read as it was written`() throws {
        for request in try Self.requests() { #expect(try WorkerRequest.decoding(request.encoded) == request) }
        for reply in try Self.replies() {
            let bytes = try reply.encoded
            #expect(try WorkerReply.decoding(bytes).encoded == bytes)
            #expect("\(try WorkerReply.decoding(bytes))" == "\(reply)")
        }
        let hello = WorkerHello(layers: [.landlock, .seccomp])
        #expect(try WorkerHello.decoding(hello.encoded).layers == hello.layers)
    }

    @Test func `A message that ends early is malformed wherever it ends`() throws {
        let requests = try Self.requests().map { (try $0.encoded, true) }
        for (bytes, isRequest) in requests + (try Self.replies().map { (try $0.encoded, false) }) {
            for count in bytes.indices {
                #expect(throws: WireError.malformed) {
                    let part = Array(bytes[..<count])
                    if isRequest { _ = try WorkerRequest.decoding(part) } else { _ = try WorkerReply.decoding(part) }
                }
            }
        }
    }

    @Test func `Lengths, cases and truths out of range are malformed`() throws {
        let version = WireCoder.version
        let endless: [UInt8] = [version, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]
        #expect(throws: WireError.malformed) { try String.decoding(endless) }
        #expect(throws: WireError.malformed) { try String.decoding([version, 1, 0, 0, 0, 0xff]) }
        #expect(throws: WireError.malformed) { try Bool.decoding([version, 2]) }
        #expect(throws: WireError.malformed) { try WorkerRequest.decoding([version, 9]) }
        #expect(throws: WireError.malformed) { try WorkerRequest.decoding([version &- 1, 1]) }
        #expect(throws: WireError.malformed) { try Orient.Rule.decoding([version, 10]) }
    }
}
