import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import HTTPTypes
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Races between requests, purges and late responses.
@Suite(.timeLimit(.minutes(5)))
struct RaceTests {
    @Test(arguments: [PurgeTarget.source(.example), .host("example.com"), .everything], [true, false])
    func `An entry that is read from disk during its purge is not promoted`(
        target: PurgeTarget, isInMemory: Bool
    ) async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        if !isInMemory { bench.pipeline.shrinkMemory(toFraction: 0) }
        let gate = Gate()
        bench.disk.holdRemoving(at: gate)
        let purge = Task { await bench.pipeline.purge(target) }
        await gate.holds(1)
        #expect(try await bench.ask().cache.variant != nil)
        gate.open()
        _ = await purge.value
        #expect(bench.memory.statistics.entries == 0)
        #expect(try await bench.ask().cache.forwarded == .miss)
    }

    @Test(arguments: [PurgeTarget.source(.example), .everything])
    func `An entry that was read from disk during a purge is not promoted after it`(target: PurgeTarget) async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        bench.pipeline.shrinkMemory(toFraction: 0)
        let (removal, reading) = (Gate(), Gate())
        bench.disk.holdRemoving(at: removal)
        let purge = Task { await bench.pipeline.purge(target) }
        await removal.holds(1)
        // The record is read first, then the variant.
        bench.disk.holdReading(at: reading, after: 1)
        let client = Task { try await bench.ask() }
        await reading.holds(1)
        removal.open()
        _ = await purge.value
        reading.open()
        #expect(try await client.value.cache.variant == .disk)
        #expect(bench.memory.statistics.entries == 0)
        #expect(try await bench.ask().cache.forwarded == .miss)
    }

    @Test func `A large original that is being written during its purge does not stay on disk`() async throws {
        let bench = try Bench(.control("max-age=60"), memoryBytes: 0)
        let gate = Gate()
        bench.disk.holdWriting(at: gate)
        try await bench.ask()
        await gate.holds(1)
        await bench.pipeline.purge(.source(.example))
        gate.open()
        await bench.disk.written.reaches(1)
        await bench.disk.waitForCount { $0 == 0 }
    }

    @Test func `An entry that is read from disk while its origin withdraws it is not promoted`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        let (removal, reading) = (Gate(), Gate())
        bench.disk.holdRemoving(at: removal)
        bench.origin.answer(.status(410))
        let goner = Task { try await bench.failure(mode: .reload) }
        await removal.holds(1)
        bench.pipeline.shrinkMemory(toFraction: 0)
        bench.disk.holdReading(at: reading, after: 1)
        let client = Task { try await bench.ask() }
        await reading.holds(1)
        removal.open()
        #expect(try await goner.value == .notFound(status: 410))
        reading.open()
        #expect(try await client.value.cache.variant == .disk)
        #expect(bench.memory.statistics.entries == 0)
        #expect(try await bench.failure()?.cause == .notFound(status: 410))
    }

    @Test func `A purge while a request waits for the disk leaves nothing there`() async throws {
        let bench = try Bench(.control("max-age=60"))
        let gate = Gate()
        bench.disk.holdWriting(at: gate)
        bench.disk.fillQueue()
        var waiting = try bench.request()
        waiting.cache.waitsForDisk = true
        let request = waiting
        let client = Task { try await bench.pipeline.image(for: request) }
        await gate.holds(1)
        await bench.pipeline.purge(.source(.example))
        gate.open()
        _ = try await client.value
        #expect(bench.disk.count == 0)
        #expect(bench.memory.statistics.entries == 0)
    }

    @Test(arguments: ["a", nil])
    func `A confirmation does not store content that has not been decoded`(etag: String?) async throws {
        let bench = try Bench(.control("max-age=60", etag: etag))
        bench.processing.damage(page: PageSelection.primary)
        let goOn = bench.processing.holdNext()
        let first = Task { try await bench.failure() }
        await bench.processing.runs.reaches(1)
        let second = Task { try await bench.failure(mode: .noCache) }
        await bench.origin.fetches.reaches(2)
        goOn()
        #expect(try await first.value == .corrupt)
        #expect(try await second.value?.cause == .corrupt)
        #expect(bench.disk.count == 0)
    }

    @Test(arguments: [(404, "max-age=9"), (410, ""), (200, "no-store"), (200, "private")])
    func `A variant that is being made when its origin withdraws it is not stored`(status: Int, control: String)
        async throws
    {
        let answer =
            status == 200 ? .picture(try Pictures.green.get(), .control(control)) : FakeOrigin.Answer.status(status)
        let bench = try Bench(.control("max-age=60", etag: "a"))
        let goOn = bench.processing.holdNext()
        let client = Task { try await bench.ask() }
        await bench.processing.runs.reaches(1)
        bench.origin.answer(answer)
        _ = try? await bench.ask(mode: .reload)
        goOn()
        #expect(try await client.value.cache.isStored == false)
        #expect(bench.disk.count == 0)
        #expect(bench.memory.statistics.entries == 0)
    }

    @Test func `An earlier response is not stored once a later one forbids it`() async throws {
        let gate = Gate()
        let bench = try Bench(.control("max-age=60", etag: "a"), gate: gate)
        let slow = Task { try await bench.ask() }
        await gate.holds(1)
        bench.origin.answer(.picture(try Pictures.green.get(), .control("no-store")))
        bench.origin.letNextPass()
        try await bench.ask(mode: .reload)
        gate.open()
        #expect(try await slow.value.cache.isStored == false)
        #expect(bench.disk.count == 0)
    }

    @Test func `A failure from before a purge is not remembered after it`() async throws {
        let gate = Gate()
        let bench = try Bench(gate: gate)
        bench.origin.answer(.status(404))
        let slow = Task { try await bench.failure() }
        await gate.holds(1)
        await bench.pipeline.purge(.source(.example))
        bench.origin.answer(.picture(try Pictures.red.get()))
        gate.open()
        #expect(try await slow.value == .notFound(status: 404))
        try await bench.ask()
    }

    @Test func `An older response whose image is made later does not replace a newer one`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        let goOn = bench.processing.holdNext()
        let slow = Task { try await bench.ask() }
        await bench.processing.runs.reaches(1)
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=60", etag: "b")))
        let new = try await bench.ask(mode: .reload)
        goOn()
        #expect(try await slow.value.digest != new.digest)
        let next = try await bench.ask()
        #expect(next.digest == new.digest)
        #expect(next.cache == CacheReport(variant: .memory))
    }

    @Test func `An older confirmation that arrives later does not restore the old image`() async throws {
        let gate = Gate()
        let bench = try Bench(.control("max-age=60", etag: "a"), gate: gate)
        gate.open()
        for width in [10, 20] { try await bench.ask(width: width) }
        bench.wall.advance(seconds: 61)
        gate.close()
        let slow = Task { try await bench.ask(width: 10) }
        await gate.holds(1)
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=60", etag: "b")))
        bench.origin.letNextPass()
        let new = try await bench.ask(mode: .reload)
        gate.open()
        _ = try await slow.value
        // The old image was still in memory, as fresh as its confirmation.
        let next = try await bench.ask()
        #expect(next.digest == new.digest)
        #expect(next.cache == CacheReport(variant: .memory))
    }
}
