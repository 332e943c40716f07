import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// The work and the entries that requests share or must not share.
@Suite(.timeLimit(.minutes(5)))
struct SharingTests {
    /// A request that read the caches before another one filled them, and continues afterward.
    @Test(arguments: [(CacheMode.default, 1), (.noCache, 2)])
    func `A late request uses a recent response unless it forces its own`(
        mode: CacheMode, fetches: Int
    ) async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        let gate = Gate()
        bench.disk.holdReading(at: gate)
        let late = Task { try await bench.ask(mode: mode) }
        await gate.holds(1)
        try await bench.ask()
        gate.open()
        #expect(try await late.value.cache.isShared == (fetches == 1))
        #expect(bench.origin.fetches.value == fetches)
    }

    /// A request that found the original before another request's image was stored, and continues afterward.
    @Test func `An image that another request has just made counts as shared`() async throws {
        let bench = try Bench(.control("max-age=60"))
        try await bench.ask()
        let (pipeline, resolver) = (bench.pipeline, bench.pipeline.resolver)
        let request = try pipeline.resolve(bench.request())
        let record = try #require(resolver.cache.records.inMemory(request.keys.source))
        let original = try #require(await resolver.cache.original(record, for: request.access))
        #expect(try await resolver.producer.produce(request, from: original).isShared)
        #expect(bench.processing.runs.value == 1)
    }

    @Test(arguments: [("one", "one"), ("", nil)])
    func `A job names the only client that it is for, when it is weighed too`(client: String, named: String?)
        async throws
    {
        let bench = try Bench(.control("max-age=60"))
        var request = try bench.request()
        request.client = client
        _ = try await bench.pipeline.image(for: request)
        #expect(bench.processing.jobs.map(\.client) == [named])
    }

    /// The second request joins the variant or, with another width, only the download.
    @Test(arguments: [10, 20])
    func `A waiting download counts for each client that joins it, at once`(width: Int) async throws {
        let gate = Gate()
        let bench = try Bench(gate: gate)
        let requests = try [("one", 10), ("two", width), ("two", width)].map { client, width in
            var request = try bench.request(width: width)
            request.client = client
            return request
        }
        let first = Task { try await bench.pipeline.image(for: requests[0]) }
        await gate.holds(1)
        let download = try #require(bench.origin.requests.first)
        #expect(download.clients() == ["one"])
        let others = requests.dropFirst().map { request in
            Task.immediate { try await bench.pipeline.image(for: request) }
        }
        await bench.origin.starts.reaches(1)
        #expect(download.clients() == ["one", "two"])
        gate.open()
        for task in [first] + others { _ = try await task.value }
        #expect(bench.origin.fetches.value == 1)
        #expect(bench.origin.starts.value == 1)
    }

    @Test func `A finished download that may not be stored is not shared`() async throws {
        let bench = try Bench(.control("max-age=60"), delegate: Veto())
        let goOn = bench.processing.holdNext()
        let first = Task { try await bench.ask(width: 20) }
        await bench.processing.runs.reaches(1)
        try await bench.ask(width: 10)
        goOn()
        _ = try await first.value
        #expect(bench.origin.fetches.value == 2)
    }

    @Test(arguments: [PurgeTarget.source(.example), .everything])
    func `A download from before a purge is not shared`(target: PurgeTarget) async throws {
        let bench = try Bench(.control("max-age=60"))
        let goOn = bench.processing.holdNext()
        let first = Task { try await bench.ask(width: 20) }
        await bench.processing.runs.reaches(1)
        await bench.pipeline.purge(target)
        try await bench.ask(width: 10)
        goOn()
        _ = try await first.value
        #expect(bench.origin.fetches.value == 2)
        #expect(try await bench.ask(width: 20).cache.original == .memory)
    }

    @Test func `An image is stored for one request although another makes it`() async throws {
        let bench = try Bench(.control("max-age=60"))
        let goOn = bench.processing.holdNext()
        let first = Task { try await bench.ask(store: .none) }
        await bench.processing.runs.reaches(1)
        #expect(try await bench.ask().cache.isStored)
        goOn()
        #expect(try await first.value.cache.isStored == false)
        #expect(bench.disk.count == 3)
    }

    @Test func `A variant is made from the known content, not from other content in the caches`()
        async throws
    {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        let old = try await bench.ask(width: 20)
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=600", etag: "b")))
        bench.wall.advance(seconds: 61)
        let new = try await bench.ask(width: 20, store: .variants)
        #expect(new.digest != old.digest)
        await bench.settle()
        let narrow = try await bench.ask(width: 10, store: .none)
        #expect(bench.origin.fetches.value == 3)
        let fresh = try Bench()
        fresh.origin.answer(.picture(try Pictures.green.get()))
        #expect(try await narrow.digest == fresh.ask(width: 10).digest)
        bench.pipeline.shrinkMemory(toFraction: 0)
        await bench.settle()
        #expect(try await bench.ask(width: 5, store: .none).digest == fresh.ask(width: 5).digest)
    }

    @Test func `New content in memory only leaves no old content to a later process`() async throws {
        let bench = try Bench(.control("max-age=600", etag: "a"))
        let old = try await bench.ask()
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=600", etag: "b")))
        try await bench.ask(mode: .reload, store: .memory)
        bench.pipeline.shrinkMemory(toFraction: 0)
        await bench.settle()
        let later = try await bench.ask()
        #expect(later.cache.forwarded == .miss && later.digest != old.digest)
    }

    @Test func `A confirmation that forbids storing leads to a fetch for the waiting requests only`()
        async throws
    {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        let old = try await bench.ask()
        let forbidding = HTTPFields.control("no-store", etag: "a")
        bench.origin.answer(.notModified(forbidding, otherwise: .picture(try Pictures.red.get(), forbidding)))
        bench.wall.advance(seconds: 61)
        let answer = try await bench.ask()
        #expect(answer.digest == old.digest && answer.cache.isStored == false)
        #expect(bench.disk.count == 0)
        #expect(try await bench.ask().cache.forwarded == .miss)
    }

    @Test func `A record read from disk does not replace a newer one`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        for width in [10, 20] { try await bench.ask(width: width) }
        bench.pipeline.shrinkMemory(toFraction: 0)
        let gate = Gate()
        bench.disk.holdReading(at: gate)
        let slow = Task { try await bench.ask(width: 10) }
        await gate.holds(1)
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=60", etag: "b")))
        let new = try await bench.ask(mode: .reload)
        gate.open()
        _ = try await slow.value
        let next = try await bench.ask()
        #expect(next.digest == new.digest)
        #expect(next.cache == CacheReport(variant: .memory))
    }

    @Test func `A request that waits for the disk does not share work that does not`() async throws {
        let bench = try Bench(.control("max-age=60"))
        bench.disk.fillQueue()
        let goOn = bench.processing.holdNext()
        let first = Task { try await bench.ask() }
        await bench.processing.runs.reaches(1)
        var waiting = try bench.request()
        waiting.cache.waitsForDisk = true
        let request = waiting
        let second = Task { try await bench.pipeline.image(for: request) }
        await bench.disk.waitForCount { $0 >= 2 }
        goOn()
        _ = try await first.value
        #expect(try await second.value.cache.isStored)
    }

    @Test func `A shared confirmation is stored for each of its requests`() async throws {
        let gate = Gate()
        let bench = try Bench(.control("max-age=60", etag: "a"), gate: gate)
        gate.open()
        try await bench.ask()
        gate.close()
        bench.wall.advance(seconds: 61)
        let own = Task { try await bench.ask(store: .none) }
        await bench.origin.fetches.reaches(2)
        let joining = Task { try await bench.ask() }
        // It does not read the disk, so it has joined or is about to.
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        _ = try await own.value
        _ = try await joining.value
        #expect(try await bench.ask().cache == CacheReport(variant: .memory))
        #expect(bench.origin.fetches.value <= 3)
    }

    @Test func `A large original is on disk only`() async throws {
        let bench = try Bench(.control("max-age=60"), memoryBytes: 8 << 20)
        bench.origin.answer(.picture(try Pictures.noise(width: 700, height: 600), .control("max-age=60")))
        try await bench.ask(width: 20)
        await bench.settle()
        #expect(bench.memory.statistics.entries == 1)
        #expect(try await bench.ask(width: 30).cache.original == .disk)
        #expect(bench.memory.statistics.entries == 2)
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `Validators are sent only to the address that they came from`() async throws {
        let filter = QueryDroppingFilter(rules: [.init(hostPattern: "*", parameterPatterns: ["token"])])
        let bench = try Bench(.control("max-age=60", etag: "a"), keyFilter: filter)
        let (first, second) = ("http://example.com/a.png?token=1", "http://example.com/a.png?token=2")
        try await bench.ask(first)
        bench.wall.advance(seconds: 61)
        #expect(
            try await bench.ask(second).cache == CacheReport(variant: .memory, forwarded: .stale, originStatus: 200))
        #expect(bench.origin.requests.map(\.validatedURL) == [nil, first])
        bench.wall.advance(seconds: 61)
        #expect(try await bench.ask(second).cache.originStatus == 304)
    }

    @Test func `A decoded image is kept only once its original is known to decode`() async throws {
        let bench = try Bench()
        try await bench.ask(width: 20)
        try await bench.ask(width: 10)
        #expect(bench.processing.jobs.map(\.cachesDecoded) == [false, true])
        await bench.pipeline.purge(.source(.example))
        #expect(bench.processing.forgotten == [try #require(bench.processing.jobs.first?.identity)])
    }
}

/// A delegate that refuses caching.
private struct Veto: ImagePipelineDelegate {
    func willCacheResponse(_ response: OriginResponse, for request: ImageRequest) async -> OriginResponse? { nil }
}
