import DarkroomObjectStorage
import DarkroomRequests
import DarkroomStore
import DarkroomTestLogs
import Logging
import NIOCore
import Synchronization
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// A store that fails, and objects that are not what they should be.
@Suite(.timeLimit(.minutes(5)))
struct SharedFaultTests {
    private static let errors: [ObjectStorageError] = [
        .timedOut(.response), .unreachable(.refused), .unavailable(status: 500, code: nil), .forbidden(code: nil),
        .noSuchBucket, .notS3(status: 200), .slowDown, .tooLarge(limitBytes: 1), .notFound, .canceled,
    ]

    @Test(
        arguments: [MemoryBucket.Operation.read, .write, .delete, .list], errors)
    func `No error of the store fails a request`(
        operation: MemoryBucket.Operation, error: ObjectStorageError
    ) async throws {
        let cluster = try Cluster()
        let made = try await cluster.node().ask()
        cluster.bucket.fail { failing, _ in failing == operation ? error : nil }
        let node = await cluster.node()
        #expect(try await node.ask().body == made.body)
        #expect(try await node.ask(width: 30).size.width == 30)
        cluster.wall.advance(seconds: 90)
        #expect(try await node.ask().body == made.body)
    }

    @Test func `A store that fails is left alone for a while, and used again by itself`() async throws {
        let cluster = try Cluster()
        try await cluster.node().ask()
        let log = LogRecorder()
        let time = Mutex(ContinuousClock.now)
        let node = await cluster.node(logger: log.logger) { time.withLock(\.self) }
        cluster.bucket.fail { _, _ in .unavailable(status: 503, code: nil) }
        for number in 0..<20 { try await node.ask("http://example.com/\(number).png") }
        #expect(node.store.statistics.failures == 5)
        #expect(node.store.statistics.skipped == 15)
        #expect(node.store.statistics.droppedWrites == 20)
        #expect(!node.store.statistics.isReadable)
        #expect(!node.store.statistics.isWritable)
        #expect(log.count(of: "shared store: reading fails") == 1)
        #expect(log.count(of: "shared store: writing fails") == 1)

        cluster.bucket.fail(nil)
        time.withLock { $0 += .seconds(10) }
        #expect(try await node.tier() == .shared)
        try await node.ask("http://example.com/b.png")
        #expect(node.store.statistics.isReadable)
        #expect(node.store.statistics.isWritable)
        #expect(log.count(of: "shared store: reading works again") == 1)
        #expect(log.count(of: "shared store: writing works again") == 1)
    }

    @Test func `A damaged object is a miss and is counted, whichever bit is wrong`() async throws {
        let cluster = try Cluster()
        let made = try await cluster.node().ask()
        let names = cluster.bucket.names
        var random = SeededGenerator(seed: 7)
        var damaged = 0
        for name in names {
            let intact = try #require(cluster.bucket[name])
            for _ in 0..<60 {
                let index = Int.random(in: 0..<intact.readableBytes, using: &random)
                var bytes = Array(intact.readableBytesView)
                bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                cluster.bucket[name] = ByteBuffer(bytes: bytes)
                let node = await cluster.node()
                let found = try await node.ask(store: .memory)
                #expect(found.body == made.body)
                #expect(found.digest == made.digest)
                damaged += node.store.statistics.damaged
            }
            cluster.bucket[name] = intact
        }
        // Each of the objects that such a request reads; the original is not among them.
        #expect(damaged >= 60)
    }

    @Test(arguments: [0, 1, 8, 9, 100, 200])
    func `A truncated object is a miss`(length: Int) async throws {
        let cluster = try Cluster()
        let made = try await cluster.node().ask()
        for name in cluster.bucket.names {
            let intact = try #require(cluster.bucket[name])
            cluster.bucket[name] = intact.getSlice(at: 0, length: min(length, intact.readableBytes - 1))
        }
        let node = await cluster.node()
        let found = try await node.ask()
        #expect(found.body == made.body)
        #expect(found.cache.forwarded != nil)
        #expect(node.store.statistics.damaged > 0)
        // What is written now is whole.
        #expect(try await cluster.node().tier() == .shared)
    }

    @Test func `An object of another source or kind is a miss`() async throws {
        let cluster = try Cluster()
        let made = try await cluster.node().ask()
        cluster.origin.answer("/b.png", .picture(try Pictures.png(color: [0, 0, 200]), .control("max-age=60")))
        let other = try await cluster.node().ask("http://example.com/b.png")
        func names(of width: Int, _ url: String) -> [String] {
            cluster.bucket.names.filter { $0.hasPrefix("1/s/\(RequestKeys.source(url).hex)") }
        }
        let (mine, others) = (names(of: 20, "http://example.com/a.png"), names(of: 20, "http://example.com/b.png"))
        #expect(mine.count == 3)
        for (name, foreign) in zip(mine, others) { cluster.bucket[name] = cluster.bucket[foreign] }
        let node = await cluster.node()
        let found = try await node.ask()
        #expect(found.body == made.body)
        #expect(found.body != other.body)
        #expect(node.store.statistics.damaged > 0)
    }

    @Test func `Writes that do not fit into the queue are dropped and counted`() async throws {
        var cluster = try Cluster()
        cluster.shared.maxQueuedBytes = 64
        let node = await cluster.node()
        try await node.ask()
        #expect(node.store.statistics.droppedWrites == 1)
        #expect(cluster.bucket.names.isEmpty)
    }
}
