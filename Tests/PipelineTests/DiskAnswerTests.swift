import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomRequests
import DarkroomStore
import DarkroomTestClock
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Answers from the disk tier.
@Suite(.timeLimit(.minutes(5)))
struct DiskAnswerTests {
    @Test func `A hit on disk takes one lookup of record and variant, and no deadline`() async throws {
        let clock = TestClock()
        let bench = try Bench(.control("max-age=60"), memoryBytes: 0, clock: clock)
        let made = try await bench.ask()
        await bench.disk.waitForCount { $0 == 3 }
        await bench.settle()
        let (sleeps, reads) = (clock.sleepCount, bench.disk.reads.value)
        let response = try await bench.ask()
        #expect(response.cache.variant == .disk)
        #expect(response.body == made.body)
        #expect(clock.sleepCount == sleeps)
        #expect(bench.disk.reads.value == reads + 2)
    }

    @Test func `A request whose record is in memory reads only the variant`() async throws {
        let bench = try Bench(.control("max-age=60"))
        try await bench.ask()
        await bench.settle()
        bench.memory.removeEverything()
        let reads = bench.disk.reads.value
        #expect(try await bench.ask().cache.variant == .disk)
        #expect(bench.disk.reads.value == reads + 1)
        #expect(try await bench.ask().cache.variant == .memory)
    }

    @Test func `Full memory takes an image from disk at its second use`() async throws {
        let budget = 64 << 10
        let bench = try Bench(.control("max-age=60"), memoryBytes: budget)
        try await bench.ask()
        await bench.settle()
        bench.memory.removeEverything()
        let body = ByteBuffer(repeating: 0, count: budget - MemoryStore.entryOverheadBytes)
        let other = EntryKey(source: StoreKey(hashing: [1]), entry: StoreKey(hashing: [2]))
        #expect(bench.memory.store(StoredEntry(body: body), for: other))
        for _ in 1...2 { #expect(try await bench.ask().cache.variant == .disk) }
        #expect(try await bench.ask().cache.variant == .memory)
    }

    @Test func `A miss looks for its record on disk once`() async throws {
        let bench = try Bench(.control("max-age=60"), memoryBytes: 0)
        try await bench.ask()
        #expect(bench.disk.reads.value == 1)
    }

    @Test func `A newer record in memory decides on a variant on disk`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        await bench.settle()
        // The record on disk stays fresh, the one in memory does not.
        let records = bench.pipeline.resolver.cache.records
        let source = RequestKeys.source(SourceURL.example.canonical)
        let record = try #require(records.inMemory(source))
        var response = record.response
        response.staleSince = bench.wall.now
        records.store(record.with(response, policy: FreshnessPolicy()), for: source, in: .memory)
        bench.memory.removeEverything()
        #expect(try await bench.ask().cache.forwarded == .stale)
    }

    @Test func `A variant of other content than the record's is not used`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"), memoryBytes: 0)
        try await bench.ask(width: 20)
        await bench.settle()
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=60", etag: "b")))
        try await bench.ask(width: 10, mode: .reload)
        await bench.settle()
        #expect(try await bench.ask(width: 10).cache.variant == .disk)
        #expect(try await bench.ask(width: 20).cache.variant == nil)
    }

    @Test func `The copy of a record, restored after the loss of an index, is revalidated before it is used`()
        async throws
    {
        let bench = try Bench(.control("max-age=60", etag: "a"), memoryBytes: 0)
        try await bench.ask()
        await bench.settle()
        #expect(bench.disk.companions.count == 2, "the original and the variant carry the record")
        bench.disk.restoreFromCopies()
        bench.origin.answer(.notModified(.control("max-age=60", etag: "a")))
        let response = try await bench.ask()
        #expect(response.cache.originStatus == 304)
        #expect(response.cache.variant == .disk)
        let next = try await bench.ask()
        #expect(next.cache.forwarded == nil)
        #expect(next.cache.variant == .disk)
    }

    @Test func `A request that cannot wait gets no answer from a disk that may have to wait`() async throws {
        let bench = try Bench(.control("max-age=60"), memoryBytes: 0)
        try await bench.ask()
        await bench.settle()
        let request = try bench.request()
        #expect(bench.pipeline.imageNow(bench.pipeline.lookup(for: request)) == nil)
        let resolved = bench.pipeline.resolve(request)
        let resolver = bench.pipeline.resolver
        var inquiry = resolver.inquiry(resolved)
        #expect(resolver.answerNow(&inquiry) == nil)
        await resolver.look(&inquiry)
        #expect(resolver.answerNow(&inquiry)?.cache.variant == .disk)
    }
}
