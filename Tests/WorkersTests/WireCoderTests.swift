import DarkroomRequests
import DarkroomTransforms
import NIOCore
import Testing

@testable import DarkroomWorkers

struct WireCoderTests {
    private static let requests: [WorkerRequest] = [
        .plan, .process, .go, .drop, .removeDecoded(identity: "a"), .shrink(fraction: 0.5), .cancel, .probe,
        .image(content: "b"),
        .attempt(JobAllowance(memoryBytes: 1, work: 0.5)),
    ]

    private static func replies() throws -> [WorkerReply] {
        let failures: [ImageProcessingError] = [
            .unsupported, .corrupt("a"), .tooLarge("b"), .interrupted, .transformFailed("c"), .encodingFailed("d"),
            .badParameter(TransformError(parameter: "e", reason: "f")), .missingDecoder(.heic), .mark(.corrupt("g")),
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
        for request in Self.requests { #expect(try WorkerRequest.decoding(request.encoded) == request) }
        for reply in try Self.replies() {
            let bytes = try reply.encoded
            #expect(try WorkerReply.decoding(bytes).encoded == bytes)
            #expect("\(try WorkerReply.decoding(bytes))" == "\(reply)")
        }
        let hello = WorkerHello(layers: [.landlock, .seccomp])
        #expect(try WorkerHello.decoding(hello.encoded).layers == hello.layers)
    }

    @Test func `A message that ends early is malformed wherever it ends`() throws {
        func expectMalformed<Message: Codable>(_ message: Message) throws {
            let bytes = try message.encoded
            for count in bytes.indices {
                #expect(throws: WireError.malformed) { try Message.decoding(Array(bytes[..<count])) }
            }
        }
        for request in Self.requests { try expectMalformed(request) }
        for reply in try Self.replies() { try expectMalformed(reply) }
        for recipe in WorkerJobTests.recipes { try expectMalformed(recipe) }
    }

    private struct Scalars: Codable, Equatable {
        var bool: Bool?
        var text: String?
        var double: Double?
        var float: Float?
        var list: [Int64] = [-1, 2]
        var int: Int?
        var int8: Int8?
        var int16: Int16?
        var int32: Int32?
        var int64: Int64?
        var unsigned: UInt?
        var unsigned8: UInt8?
        var unsigned16: UInt16?
        var unsigned32: UInt32?
        var unsigned64: UInt64?
    }

    @Test func `Every kind of scalar is read as it was written, present or not`() throws {
        #expect(try Scalars.decoding(Scalars().encoded) == Scalars())
        let full = Scalars(
            bool: true, text: "é", double: -0.1, float: 0.5, list: [], int: .min, int8: -2, int16: -3, int32: -4,
            int64: -5, unsigned: .max, unsigned8: 6, unsigned16: 7, unsigned32: 8, unsigned64: 9)
        #expect(try Scalars.decoding(full.encoded) == full)
        #expect(throws: WireError.malformed) { try [Int?.none].encoded }
    }

    @Test func `Lengths, cases, truths and depths out of range are malformed`() throws {
        let version = WireEncoder.version
        #expect(throws: WireError.malformed) { try String.decoding([version, 0xff, 0xff, 1, 2, 3]) }
        #expect(throws: WireError.malformed) { try String.decoding([version, 1, 0, 0xff]) }
        #expect(throws: WireError.malformed) { try Bool.decoding([version, 2]) }
        #expect(throws: WireError.malformed) { try WorkerRequest.decoding([version, 2, 0] + Array("no".utf8)) }
        #expect(throws: WireError.malformed) {
            try WorkerRequest.decoding([version &- 1] + WorkerRequest.go.encoded.dropFirst())
        }
        #expect(throws: WireError.malformed) { try Fit.decoding([version, 2, 0] + Array("no".utf8)) }
        let tooMany = WireEncoder.maxListCount + 1
        #expect(throws: WireError.malformed) {
            try [Bool].decoding([version, UInt8(tooMany)] + [UInt8](repeating: 1, count: tooMany))
        }
        #expect(throws: WireError.malformed) { try [Bool](repeating: true, count: tooMany).encoded }
        let deep = (1...20).reduce(ImageProcessingError.interrupted) { error, _ in .mark(error) }
        #expect(throws: WireError.malformed) { try ImageProcessingError.decoding(deep.encoded) }
    }
}
