import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomStore
import HTTPTypes
import Testing

@testable import DarkroomPipeline

/// What must not come back, and what must not be taken for news, although it is still under way.
@Suite(.timeLimit(.minutes(1)))
struct RaceTests {
    @Test(arguments: [PurgeTarget.source(.example), .host("example.com"), .everything], [true, false])
    func `What is read from disk while a purge removes it does not come back`(
        target: PurgeTarget, isInMemory: Bool
    ) async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        if !isInMemory { bench.pipeline.shrinkMemory(toFraction: 0) }
        let gate = Gate()
        bench.disk.holdRemoving(at: gate)
        let purge = Task { await bench.pipeline.purge(target) }
        await until { gate.waitingCount == 1 }
        #expect(try await bench.ask().cache.variant != nil)
        gate.open()
        _ = await purge.value
        #expect(bench.memory.statistics.entries == 0)
        #expect(try await bench.ask().cache.forwarded == .miss)
    }

    @Test(arguments: [PurgeTarget.source(.example), .everything])
    func `What was read from disk during a purge is not brought back after it`(target: PurgeTarget) async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        bench.pipeline.shrinkMemory(toFraction: 0)
        let (removal, reading) = (Gate(), Gate())
        bench.disk.holdRemoving(at: removal)
        let purge = Task { await bench.pipeline.purge(target) }
        await until { removal.waitingCount == 1 }
        // First the record, then the variant.
        bench.disk.holdReading(at: reading, after: 1)
        let client = Task { try await bench.ask() }
        await until { reading.waitingCount == 1 }
        removal.open()
        _ = await purge.value
        reading.open()
        #expect(try await client.value.cache.variant == .disk)
        #expect(bench.memory.statistics.entries == 0)
        #expect(try await bench.ask().cache.forwarded == .miss)
    }

    @Test func `A large original that is being written when its source is purged does not stay on disk`() async throws {
        let bench = try Bench(.control("max-age=60"), memoryBytes: 0)
        let gate = Gate()
        bench.disk.holdWriting(at: gate)
        try await bench.ask()
        await until { gate.waitingCount == 1 }
        await bench.pipeline.purge(.source(.example))
        gate.open()
        await until { bench.disk.written.value == 1 && bench.disk.count == 0 }
    }

    @Test func `What is read from disk while its origin takes it back is not brought back`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        let (removal, reading) = (Gate(), Gate())
        bench.disk.holdRemoving(at: removal)
        bench.origin.answer(.status(410))
        let goner = Task { try await bench.failure(mode: .reload) }
        await until { removal.waitingCount == 1 }
        bench.pipeline.shrinkMemory(toFraction: 0)
        bench.disk.holdReading(at: reading, after: 1)
        let client = Task { try await bench.ask() }
        await until { reading.waitingCount == 1 }
        removal.open()
        #expect(try await goner.value == .notFound(status: 410))
        reading.open()
        #expect(try await client.value.cache.variant == .disk)
        #expect(bench.memory.statistics.entries == 0)
        #expect(try await bench.failure()?.cause == .notFound(status: 410))
    }

    @Test func `A purge while somebody waits for the disk leaves nothing there`() async throws {
        let bench = try Bench(.control("max-age=60"))
        let gate = Gate()
        bench.disk.holdWriting(at: gate)
        bench.disk.fillQueue()
        var waiting = try bench.request()
        waiting.cache.waitsForDisk = true
        let request = waiting
        let client = Task { try await bench.pipeline.image(for: request) }
        await until { gate.waitingCount == 1 }
        await bench.pipeline.purge(.source(.example))
        gate.open()
        _ = try await client.value
        #expect(bench.disk.count == 0)
        #expect(bench.memory.statistics.entries == 0)
    }

    @Test(arguments: ["a", nil])
    func `What its origin confirms before it has decoded is not kept for that`(etag: String?) async throws {
        let bench = try Bench(.control("max-age=60", etag: etag))
        bench.processing.damage(page: 1)
        let goOn = bench.processing.holdNext()
        let first = Task { try await bench.failure() }
        await until { bench.processing.runs.value == 1 }
        let second = Task { try await bench.failure(mode: .noCache) }
        await until { bench.origin.fetches.value == 2 }
        goOn()
        #expect(try await first.value == .corrupt)
        #expect(try await second.value?.cause == .corrupt)
        #expect(bench.disk.count == 0)
    }

    @Test(arguments: [(404, "max-age=9"), (410, ""), (200, "no-store"), (200, "private")])
    func `What is being made when its origin takes it back is not kept`(status: Int, control: String) async throws {
        let answer =
            status == 200 ? .picture(try Pictures.green.get(), .control(control)) : FakeOrigin.Answer.status(status)
        let bench = try Bench(.control("max-age=60", etag: "a"))
        let goOn = bench.processing.holdNext()
        let client = Task { try await bench.ask() }
        await until { bench.processing.runs.value == 1 }
        bench.origin.answer(answer)
        _ = try? await bench.ask(mode: .reload)
        goOn()
        #expect(try await client.value.cache.isStored == false)
        #expect(bench.disk.count == 0)
        #expect(bench.memory.statistics.entries == 0)
    }

    @Test func `An earlier answer is not kept once a later one may not be`() async throws {
        let gate = Gate()
        let bench = try Bench(.control("max-age=60", etag: "a"), gate: gate)
        let slow = Task { try await bench.ask() }
        await until { gate.waitingCount == 1 }
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
        await until { gate.waitingCount == 1 }
        await bench.pipeline.purge(.source(.example))
        bench.origin.answer(.picture(try Pictures.red.get()))
        gate.open()
        #expect(try await slow.value == .notFound(status: 404))
        try await bench.ask()
    }

    @Test func `An older answer whose picture is made later does not take the place of a newer one`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        let goOn = bench.processing.holdNext()
        let slow = Task { try await bench.ask() }
        await until { bench.processing.runs.value == 1 }
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=60", etag: "b")))
        let new = try await bench.ask(mode: .reload)
        goOn()
        #expect(try await slow.value.digest != new.digest)
        let next = try await bench.ask()
        #expect(next.digest == new.digest)
        #expect(next.cache == CacheReport(variant: .memory))
    }

    @Test func `An older confirmation that comes later does not bring the old picture back`() async throws {
        let gate = Gate()
        let bench = try Bench(.control("max-age=60", etag: "a"), gate: gate)
        gate.open()
        for width in [10, 20] { try await bench.ask(width: width) }
        bench.wall.advance(seconds: 61)
        gate.close()
        let slow = Task { try await bench.ask(width: 10) }
        await until { gate.waitingCount == 1 }
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=60", etag: "b")))
        bench.origin.letNextPass()
        let new = try await bench.ask(mode: .reload)
        gate.open()
        _ = try await slow.value
        // The old one was in memory still, as fresh as its confirmation.
        let next = try await bench.ask()
        #expect(next.digest == new.digest)
        #expect(next.cache == CacheReport(variant: .memory))
    }
}
