import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomRequests
import DarkroomStore
import Foundation
import Testing

@testable import DarkroomCache

/// How long failures are remembered, and how many.
struct FailureMemoryTests {
    private struct Missing: Error {}

    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func access(_ source: SourceURL, _ identity: String) -> CacheAccess {
        let keys = RequestKeys(source: RequestKeys.source(identity), variant: StoreKey(hashing: "variant".utf8))
        return CacheAccess(ImageRequest(source: source), keys: keys, epoch: PurgeEpochs().current)
    }

    @Test func `A request fails if it needs what failed, and not if it needs less`() {
        func part(_ pages: PageSelection?, pixels: Bool = true) -> SourcePart {
            SourcePart(pages, needsPixels: pixels, variant: nil)
        }
        let (all, still, second) = (part(PageSelection()), part(PageSelection(count: 1)), part(PageSelection(first: 2)))
        let (two, three) = (part(PageSelection(count: 2)), part(PageSelection(count: 3)))
        let header = part(PageSelection(), pixels: false)
        for (needed, failed) in [
            (all, header), (all, still), (still, still), (three, two), (all, part(nil)), (still, part(nil)),
            (header, part(nil, pixels: false)), (all, part(nil, pixels: false)),
        ] {
            #expect(needed.includes(failed))
        }
        for (needed, failed) in [
            (header, all), (header, part(nil)), (still, all), (two, three), (all, three), (three, all), (second, all),
            (all, second), (part(nil), all),
        ] {
            #expect(!needed.includes(failed))
        }
        let image = SourcePart(PageSelection(), needsPixels: true, variant: StoreKey(hashing: "a".utf8))
        let other = SourcePart(PageSelection(), needsPixels: true, variant: StoreKey(hashing: "b".utf8))
        #expect(image.includes(image) && image.includes(all) && !image.includes(other) && !all.includes(image))
        // What is shown although it is damaged does not fail where a whole image would.
        let shown = SourcePart(PageSelection(), needsPixels: true, variant: nil, showsDamage: true)
        #expect(all.includes(shown) && shown.includes(shown) && !shown.includes(all))
    }

    @Test func `The delay has a jitter of a fifth`() {
        func seconds(_ random: Double) -> Double {
            FailureRetention.transient(nil).lifetime(attempts: 1, policy: FreshnessPolicy(), random: random)
                / .seconds(1)
        }
        #expect(abs(seconds(0) - 0.8) < 1e-9)
        #expect(abs(seconds(0.999_999) - 1.2) < 1e-3)
    }

    @Test func `Retry-After counts for five minutes at most`() {
        let retention = FailureRetention.transient(nil, retryAfter: .seconds(86_400))
        #expect(retention.lifetime(attempts: 1, policy: FreshnessPolicy(), random: 0) == .seconds(300))
    }

    @Test func `Remembered failures stay within their budget, however long the addresses`() throws {
        let memory = FailureMemory(policy: FreshnessPolicy())
        let path = String(repeating: "a", count: 7_000)
        let source = try SourceURL(parsing: "http://example.com/\(path)")
        let all = (0..<3_000).map { access(source, "\($0)") }
        for access in all { memory.record(Missing(), .blocked, of: access, now: Self.now) }
        let remembered = all.filter { memory.current(of: $0, now: Self.now) != nil }.count
        #expect(remembered > 1_000)
        #expect(remembered * path.utf8.count < 16 << 20)
    }

    @Test func `A failure expires, and counts for no longer if the clock is set back`() throws {
        let memory = FailureMemory(policy: FreshnessPolicy())
        let access = access(try SourceURL(parsing: "http://example.com/a"), "a")
        memory.record(Missing(), .blocked, of: access, now: Self.now)
        #expect(memory.current(of: access, .peek, now: Self.now)?.seconds == 60)
        #expect(memory.current(of: access, now: Self.now + 59)?.seconds == 1)
        #expect(memory.current(of: access, now: Self.now + 60) == nil)
        #expect(memory.current(of: access, now: Self.now - 3) == nil)
    }
}
