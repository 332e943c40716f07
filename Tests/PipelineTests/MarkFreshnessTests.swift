import DarkroomHTTPCaching
import DarkroomRequests
import DarkroomStore
import HTTPTypes
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// How long an image with a mark may be used, and whether it may be stored.
@Suite(.timeLimit(.minutes(5)))
struct MarkFreshnessTests {
    private func cacheControl(_ image: ImageResponse) -> String {
        image.cachePolicy.cacheControl(age: image.age, asked: nil, cap: .seconds(1 << 30)).description
    }

    @Test(arguments: [
        ("max-age=600", "max-age=60", "public, max-age=60"), ("max-age=60", "max-age=600", "public, max-age=60"),
        ("max-age=600", "private, max-age=700", "private, max-age=600"),
        ("max-age=600, s-maxage=900", "max-age=700", "public, max-age=600, s-maxage=700"),
        ("max-age=600, immutable", "max-age=700, immutable", "public, max-age=600, immutable"),
        ("max-age=600, immutable, stale-while-revalidate=5", "max-age=700", "public, max-age=600"),
        ("max-age=600", "max-age=700, must-revalidate", "public, max-age=600, must-revalidate"),
        ("max-age=600", "no-cache", "public, no-cache"), ("max-age=600", "no-store", "no-store"),
        ("no-store", "max-age=600", "no-store"),
    ])
    func `A marked image is no fresher and no more storable than either source`(
        source: String, mark: String, both: String
    ) async throws {
        let bench = try Bench.withMark(.control(source, etag: "a"), mark: .control(mark, etag: "m"))
        let image = try await bench.askMarked()
        #expect(cacheControl(image) == both)
        #expect(image.lastModified == nil)
    }

    @Test func `Age and lifetime count from the older source`() async throws {
        let bench = try Bench.withMark(.control("max-age=300", etag: "a"), mark: .control("max-age=250", etag: "m"))
        try await bench.ask()
        bench.wall.advance(seconds: 100)
        let image = try await bench.askMarked()
        #expect(image.age == .seconds(100) && image.remaining == .seconds(200))
        #expect(cacheControl(image) == "public, max-age=300")
        bench.wall.advance(seconds: 40)
        let later = try await bench.askMarked()
        #expect(later.age == .seconds(140) && later.remaining == .seconds(160))
        #expect(later.cachePolicy == image.cachePolicy)
    }

    @Test func `An image with a mark that may not be stored is not stored`() async throws {
        let bench = try Bench.withMark(mark: .control("no-store"))
        let image = try await bench.askMarked()
        #expect(!image.cache.isStored)
        #expect(bench.fetches() == 1)
        #expect(try await bench.askMarked().cache.variant == nil)
        #expect(bench.fetches() == 2 && bench.fetches(of: "/a.png") == 1)
    }

    @Test func `A request that stores nothing stores no mark`() async throws {
        let bench = try Bench.withMark()
        _ = try await bench.askMarked(store: .none)
        #expect(bench.memory.statistics.entries == 0 && bench.disk.count == 0)
    }

    @Test func `A forced refresh asks for the mark too, and a request for cached images asks for nothing`() async throws
    {
        let bench = try Bench.withMark()
        #expect(await bench.failure(of: try bench.markedRequest(mode: .onlyIfCached)) == .notCached)
        _ = try await bench.askMarked()
        _ = try await bench.askMarked(mode: .reload)
        #expect(bench.fetches() == 2 && bench.fetches(of: "/a.png") == 2)
        #expect(try await bench.askMarked(mode: .onlyIfCached).cache.variant == .memory)
    }
}
