import DarkroomMachine
import DarkroomQuery
import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline
@testable import DarkroomStore

/// What other servers, the owners of their store, and workers say.
extension FuzzTests {
    @Test func `The head of an object in the shared store has numbers that arithmetic cannot overflow with`() throws {
        let key = EntryKey(source: StoreKey(hashing: "source".utf8), entry: StoreKey(hashing: "entry".utf8))
        let head = SharedObject.Head(
            kind: .variant, key: key, writtenAt: 1_795_000_000_000,
            record: SharedRecord(order: 1_795_000_000_001, metadata: ByteBuffer(string: "record")),
            metadata: ByteBuffer(string: "metadata"), bodyBytes: 4, bodyDigest: StoreKey(hashing: "body".utf8))
        let object = SharedObject.encode(head, ByteBuffer(string: "body"))
        let fields = object.readableBytesView.dropLast("body".utf8.count + StoreKey.byteCount)
        fuzzer.run("shared-object", bytes: [Array(fields)]) { input in
            // A damaged head is no head; what matters is one that somebody has made.
            var forged = ByteBuffer(bytes: input)
            forged.writeBytes(StoreKey(hashing: input).bytes)
            guard let head = SharedObject.Head(forged) else { return }
            try hold(SharedObject.times.contains(head.writtenAt), "written at \(head.writtenAt)")
            try hold(SharedObject.times.contains(head.record.order), "of order \(head.record.order)")
            try hold(head.bodyBytes >= 0, "\(head.bodyBytes) bytes")
            for now in [SharedObject.times.lowerBound, 1_795_000_000_000, SharedObject.times.upperBound] {
                _ = head.isPlausible(at: now)
            }
        }
    }

    @Test func `A purge that another server announced means the same when it is announced again`() {
        let seeds = [
            #"{"kind":"url","value":"https://a.org/b.jpg","soft":false}"#, #"{"kind":"everything","soft":true}"#,
            #"{"kind":"tag","value":"a","soft":false}"#, #"{"kind":"host","value":"a.org","soft":true}"#,
        ]
        fuzzer.run("purge-message", seeds: seeds, words: ["prefix", "null", "true", "\\u0000", "local:///"]) { input in
            guard let message = PurgeMessage(ByteBuffer(bytes: input)), let target = message.target else { return }
            let again = PurgeMessage(PurgeMessage(target, isSoft: message.isSoft).bytes)
            try hold(again?.isSoft == message.isSoft, "\(message)")
            try hold(again.flatMap(\.target).map { "\($0)" } == "\(target)", "\(message)")
        }
    }

    @Test func `A summary of purges means the same when it is written again`() {
        var summary = PurgeSummary()
        let orders = PurgedOrders.Orders(removed: 1_795_000_000_000, stale: -1)
        for target in [.host("a.org"), .tag("é"), .prefix("https://a.org/"), .everything] as [PurgeTarget] {
            summary.include(orders, of: target)
        }
        (summary.sources, summary.sourcesAfter) = ([StoreKey(hashing: "a".utf8): orders], orders.removed - 1)
        let latest = orders.removed + 1
        fuzzer.run("purge-summary", bytes: [Array(summary.bytes.readableBytesView)]) { input in
            guard let summary = PurgeSummary(ByteBuffer(bytes: input), latest: latest) else { return }
            try hold(PurgeSummary(summary.bytes, latest: latest) == summary, "\(summary)")
            try hold(summary.everything.next <= latest + 1, "\(summary.everything)")
        }
    }

    @Test func `A document about a source gives sizes, or is refused`() {
        let seeds = [
            #"{"format":"jpeg","width":300,"height":200,"orientation":6,"pages":1}"#,
            #"{"format":"svg","width":1000000000,"height":1,"orientation":1,"pages":1000000000}"#,
        ]
        let words = ["9223372036854775807", "-1", "0", "1e9", "gif", "webp"]
        fuzzer.run("source-summary", seeds: seeds, words: words) { input in
            guard let summary = try? SourceSummary(parsing: ByteBuffer(bytes: input)) else { return }
            for recipe in [Recipe(), .box(40), .box(nil, 7)] {
                _ = try? TransformChain(recipe).size(for: summary)
            }
            _ = IIIFPyramid(
                full: PixelSize(width: summary.width, height: summary.height), limits: PixelLimits())
        }
    }
}

extension Recipe {
    fileprivate static func box(_ width: Int?, _ height: Int? = nil) -> Recipe {
        var recipe = Recipe()
        recipe.box = Box(width: width, height: height)
        return recipe
    }
}
