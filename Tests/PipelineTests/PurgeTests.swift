import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTestClock
import DarkroomWaiting
import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Purging by address, prefix, host and tag.
@Suite(.timeLimit(.minutes(5)))
struct PurgeTests {
    private static func bench(gate: Gate? = nil) throws -> Bench {
        var fields = HTTPFields.control("max-age=60", etag: "a")
        fields[.surrogateKey] = "shoes summer"
        return try Bench(fields, gate: gate)
    }

    @Test(arguments: [
        ("http://example.com/a.png", true), ("http://example.com/b.png", false),
    ])
    func `A purge of an address removes its original and all variants from both tiers`(
        url: String, removes: Bool
    ) async throws {
        let bench = try Self.bench()
        for width in [10, 20, 30] { try await bench.ask(width: width) }
        let report = await bench.pipeline.purge(.source(try SourceURL(parsing: url)))
        #expect(report.sourceCount == (removes ? 1 : 0))
        #expect(report.entries == (removes ? 5 : 0))
        #expect((bench.disk.count == 0) == removes)
        #expect((bench.memory.statistics.entries == 0) == removes)
        #expect((try await bench.ask().cache.forwarded == .miss) == removes)
    }

    @Test(arguments: [
        (PurgeTarget.prefix("http://example.com/shop/"), 2), (.prefix("http://example.com/shop/a"), 1),
        (.prefix("http://example.org"), 0), (.host("example.com"), 3), (.host("example.co"), 0),
        (.tag("summer"), 4), (.tag("winter"), 0), (.everything, 4),
    ])
    func `A purge finds sources by prefix, host and tag`(target: PurgeTarget, count: Int) async throws {
        let bench = try Self.bench()
        for url in ["example.com/shop/a.png", "example.com/shop/b.png", "example.com/c.png", "example.net/d.png"] {
            try await bench.ask("http://\(url)")
        }
        let dry = await bench.pipeline.purge(target, dryRun: true)
        #expect(dry.sourceCount == count)
        #expect(dry.sources.count == count)
        #expect(dry.sources.allSatisfy { $0.url.hasPrefix("http://example.") && $0.entries == 3 })
        #expect(bench.disk.count == 12)
        let report = await bench.pipeline.purge(target)
        #expect(dry.sources.map(\.url) == dry.sources.map(\.url).sorted())
        #expect(report.sources == [])
        #expect([report.sourceCount, report.entries, report.bytes] == [dry.sourceCount, dry.entries, dry.bytes])
        #expect(bench.disk.count == 12 - 3 * count)
    }

    @Test func `Sources that only the disk knows are found too`() async throws {
        let bench = try Self.bench()
        try await bench.ask()
        bench.pipeline.shrinkMemory(toFraction: 0)
        #expect(await bench.pipeline.purge(.tag("shoes")).sourceCount == 1)
        #expect(bench.disk.count == 0)
    }

    @Test(arguments: [
        PurgeTarget.source(SourceURL.example), .prefix("http://example.com/"), .tag("shoes"), .everything,
    ])
    func `Work in progress stores nothing after a purge`(target: PurgeTarget) async throws {
        let gate = Gate()
        let bench = try Self.bench(gate: gate)
        let client = Task { try await bench.ask() }
        await bench.origin.fetches.reaches(1)
        await bench.pipeline.purge(target)
        gate.open()
        #expect(try await client.value.cache.isStored == false)
        #expect(bench.disk.count == 0)
        #expect(bench.memory.statistics.entries == 0)
        #expect(try await bench.ask().cache.forwarded == .miss)
    }

    @Test(arguments: [
        PurgeTarget.prefix("http://example.com/b"), .host("example.org"), .tag("winter"),
    ])
    func `Work in progress that a purge does not concern is stored`(target: PurgeTarget) async throws {
        let gate = Gate()
        let bench = try Self.bench(gate: gate)
        let client = Task { try await bench.ask() }
        await bench.origin.fetches.reaches(1)
        await bench.pipeline.purge(target)
        gate.open()
        #expect(try await client.value.cache.isStored)
        #expect(try await bench.ask().cache == CacheReport(variant: .memory))
        #expect(bench.origin.fetches.value == 1)
    }

    @Test(arguments: [PurgeTarget.prefix("http://example.com/b"), .host("example.org")])
    func `After a purge that does not concern it, work in progress is still shared`(target: PurgeTarget) async throws {
        let gate = Gate()
        let bench = try Self.bench(gate: gate)
        let first = Task { try await bench.ask() }
        await bench.origin.fetches.reaches(1)
        await bench.pipeline.purge(target)
        let second = Task { try await bench.ask(width: 30) }
        await until { bench.pipeline.resolver.fetcher.fetches.waiterCount == 2 }
        gate.open()
        _ = (try await first.value, try await second.value)
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `While a purge takes long, what it has not removed yet is used only as its origin confirms it`()
        async throws
    {
        let (clock, gate) = (TestClock(), Gate())
        let bench = try Bench(.control("max-age=60", etag: "a"), clock: clock)
        try await bench.ask()
        bench.disk.holdRemoving(at: gate)
        let purge = Task { await bench.pipeline.purge(.host("example.com")) }
        await gate.holds(1)
        #expect(try await bench.ask().cache == CacheReport(variant: .memory))
        while await clock.nextSleep() != PurgeAssurance.slowRead {}
        clock.advance(by: PurgeAssurance.slowRead)
        let records = bench.pipeline.resolver.cache.records
        await until { records.peek(RequestKeys.source("http://example.com/a.png"))?.freshness.staleSince != nil }
        bench.wall.advance(seconds: 1)
        #expect(try await bench.ask().cache.originStatus == 304)
        #expect(try await bench.ask().cache == CacheReport(variant: .memory))
        gate.open()
        #expect(await purge.value.sourceCount == 1)
        #expect(try await bench.ask().cache.forwarded == .miss)
    }

    @Test func `A large purge reports its progress`() async throws {
        let bench = try Self.bench()
        try await bench.ask()
        let reports = Journal()
        let report = await bench.pipeline.purge(.tag("shoes"), soft: false, dryRun: false, tiers: .all) { progress in
            reports.append("\(progress.sourceCount) \(progress.entries)")
        }
        #expect(reports.lines == ["0 0", "1 3"])
        #expect(report.entries == 3)
    }

    private struct OneSource: CacheKeyFilter {
        func identity(of source: SourceURL) -> String { "http://example.com/a.png" }
    }

    @Test(arguments: [PurgeTarget.prefix("http://a.example.com/"), .host("a.example.com")])
    func `After a purge of one address of a source, another address does not share the download`(
        target: PurgeTarget
    ) async throws {
        let gate = Gate()
        let bench = try Bench(.control("max-age=60", etag: "a"), gate: gate, keyFilter: OneSource())
        let first = Task { try await bench.ask("http://a.example.com/a.png") }
        await bench.origin.fetches.reaches(1)
        await bench.pipeline.purge(target)
        let second = Task { try await bench.ask("http://b.example.com/a.png", width: 30) }
        await until { bench.pipeline.resolver.fetcher.fetches.waiterCount == 2 }
        gate.open()
        _ = (try await first.value, try await second.value)
        #expect(bench.origin.fetches.value == 2)
        #expect(try await bench.ask("http://b.example.com/a.png", width: 30).cache.variant == .memory)
        #expect(await bench.pipeline.purge(target, dryRun: true).sourceCount == 0)
    }

    @Test func `An entry that is being read from disk is not promoted after a purge`() async throws {
        let bench = try Self.bench()
        try await bench.ask()
        bench.pipeline.shrinkMemory(toFraction: 0)
        let gate = Gate()
        bench.disk.holdReading(at: gate)
        let client = Task { try await bench.ask() }
        await gate.holds(1)
        let purge = Task { await bench.pipeline.purge(.source(.example)) }
        await bench.disk.waitForCount { $0 == 0 }
        gate.open()
        _ = try await client.value
        _ = await purge.value
        #expect(bench.memory.statistics.entries == 0 || bench.disk.count > 0)
    }

    @Test(
        arguments: [
            (.source(.example), ["example.com"]), (.host("example.com"), ["example.com"]), (.everything, [nil]),
            (.prefix("http://example.com/"), []),
        ] as [(PurgeTarget, [String?])])
    func `A purge clears remembered failures and open circuits`(
        target: PurgeTarget, hosts: [String?]
    ) async throws {
        let bench = try Self.bench()
        bench.origin.answer(.status(404))
        _ = try await bench.failure()
        await bench.pipeline.purge(target, dryRun: true)
        #expect(bench.origin.forgottenOutages.isEmpty)
        #expect(try await bench.failure() != nil && bench.origin.fetches.value == 1)
        await bench.pipeline.purge(target)
        #expect(bench.origin.forgottenOutages == hosts)
        bench.origin.answer(.picture(try Pictures.red.get()))
        try await bench.ask()
    }

    @Test func `A purge by tag clears remembered undecodable content`() async throws {
        let bench = try Self.bench()
        var fields = HTTPFields.control("max-age=60")
        fields[.surrogateKey] = "shoes"
        bench.origin.answer(.picture(ByteBuffer(string: "hello"), fields))
        #expect(try await bench.failure() == .unsupported)
        await bench.pipeline.purge(.tag("hats"))
        #expect(try await bench.failure()?.cause == .unsupported)
        #expect(bench.origin.fetches.value == 1)
        await bench.pipeline.purge(.tag("shoes"))
        #expect(try await bench.failure() == .unsupported)
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `A soft purge leads to revalidation, and keeps what the origin confirms`() async throws {
        let bench = try Self.bench()
        try await bench.ask()
        #expect(await bench.pipeline.purge(.tag("shoes"), soft: true).entries == 3)
        let checked = try await bench.ask()
        #expect(checked.cache == CacheReport(variant: .memory, forwarded: .stale, originStatus: 304))
        #expect(bench.processing.runs.value == 1)
        #expect(try await bench.ask().cache == CacheReport(variant: .memory))
    }

    @Test func `A soft purge reaches the disk even when its queue is full`() async throws {
        let bench = try Self.bench()
        try await bench.ask()
        bench.disk.fillQueue()
        await bench.pipeline.purge(.tag("shoes"), soft: true)
        bench.pipeline.shrinkMemory(toFraction: 0)
        #expect(try await bench.ask().cache.forwarded != nil)
    }

    @Test func `A soft purge of a source in memory only writes nothing to disk`() async throws {
        let bench = try Self.bench()
        try await bench.ask(store: .memory)
        await bench.pipeline.purge(.tag("shoes"), soft: true)
        #expect(bench.disk.count == 0)
        #expect(try await bench.ask(store: .memory).cache.forwarded == .stale)
    }

    @Test func `A single tier can be purged`() async throws {
        let bench = try Self.bench()
        try await bench.ask()
        await bench.pipeline.purge(.everything, tiers: .memory)
        #expect(try await bench.ask().cache.variant == .disk)
        await bench.pipeline.purge(.everything, tiers: .disk)
        #expect(bench.disk.count == 0)
        #expect(try await bench.ask().cache.variant == .memory)
    }
}

extension HTTPField.Name {
    static var surrogateKey: HTTPField.Name { HTTPField.Name("Surrogate-Key") ?? .accept }
}
