import Foundation
import Testing

@testable import DarkroomHTTPCaching

struct StaleWindowsTests {
    private let policy = FreshnessPolicy(staleWhileRevalidate: .seconds(7), staleIfError: .seconds(70))

    @Test(
        arguments: [
            ([], 7, 70), (["Cache-Control: stale-while-revalidate=3"], 3, 70),
            (["Cache-Control: stale-if-error=3"], 7, 3),
            (["Cache-Control: stale-while-revalidate=0, stale-if-error=0"], 0, 0),
            (["Cache-Control: stale-while-revalidate=x, stale-if-error"], 0, 0),
            (["CDN-Cache-Control: stale-if-error=9", "Cache-Control: must-revalidate"], 7, 9),
        ] as [([String], Int, Int)])
    func `The origin's windows come before the operator's`(fields: [String], revalidating: Int, failing: Int) {
        let freshness = Origin.response(fields).freshness(policy)
        #expect(freshness.staleWhileRevalidate == .seconds(revalidating))
        #expect(freshness.staleIfError == .seconds(failing))
        #expect(!freshness.forbidsStale)
    }

    @Test(arguments: [
        "must-revalidate", "proxy-revalidate", "no-cache", "no-cache=\"a\"", "s-maxage=2, must-revalidate",
    ])
    func `Neither opens against an origin that forbids stale answers`(directive: String) {
        let freshness = Origin.response(
            ["Cache-Control: max-age=2, stale-while-revalidate=99, stale-if-error=99, \(directive)"]
        ).freshness(policy)
        #expect(freshness.forbidsStale)
        #expect(freshness.staleWhileRevalidate == .zero)
        #expect(!freshness.allowsStaleOnError(at: Origin.later(10)))
        let decision = CacheEvaluation(
            stored: freshness, isSelected: true, policy: RequestCachePolicy(), now: Origin.later(10)
        ).decision
        #expect(decision == .ask(.stale))
    }

    @Test(arguments: ["s-maxage=2", "s-maxage=x"])
    func `Beside s-maxage only windows that the origin names apply`(directive: String) {
        let silent = Origin.response(["Cache-Control: \(directive)"]).freshness(policy)
        #expect(silent.staleWhileRevalidate == .zero)
        #expect(silent.staleIfError == .zero)
        let named = Origin.response(
            ["Cache-Control: \(directive), stale-while-revalidate=59, stale-if-error=99"]
        ).freshness(policy)
        #expect(named.staleWhileRevalidate == .seconds(59))
        #expect(named.staleIfError == .seconds(99))
        let consent = RequestCachePolicy(directives: RequestDirectives(Origin.fields(["Cache-Control: max-stale"])))
        let past = CacheEvaluation(stored: named, isSelected: true, policy: consent, now: Origin.later(80)).decision
        #expect(past == .ask(.stale))
        #expect(
            CacheEvaluation(stored: named, isSelected: true, policy: RequestCachePolicy(), now: Origin.later(10))
                .decision
                == .useAndRevalidate)
    }

    @Test func `stale-if-error opens when the lifetime ends, and closes`() {
        let freshness = Origin.response(["Cache-Control: max-age=10, stale-if-error=5"]).freshness(policy)
        #expect(freshness.allowsStaleOnError(at: Origin.later(9)))
        #expect(freshness.allowsStaleOnError(at: Origin.later(14)))
        #expect(!freshness.allowsStaleOnError(at: Origin.later(15)))
    }

    @Test func `What is fresh may answer for a failing origin, even if it must be revalidated once stale`() {
        let freshness = Origin.response(["Cache-Control: max-age=10, must-revalidate"]).freshness(policy)
        #expect(freshness.allowsStaleOnError(at: Origin.later(9)))
        #expect(!freshness.allowsStaleOnError(at: Origin.later(10)))
    }

    @Test(arguments: ["Vary: *", "Cache-Control: max-age=60, no-cache"])
    func `What needs validation never answers unasked`(field: String) {
        let freshness = Origin.response([field]).freshness(policy)
        #expect(freshness.needsValidation)
        #expect(!freshness.allowsStaleOnError(at: Origin.now))
    }
}
