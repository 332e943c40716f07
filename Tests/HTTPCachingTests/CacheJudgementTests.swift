import Foundation
import HTTPTypes
import Testing

@testable import DarkroomHTTPCaching

/// What a decision rests on, and where that is written. The decisions themselves are `CacheDecisionTests`'.
struct CacheEvaluationTests {
    struct Case: CustomTestStringConvertible {
        /// The origin's `Cache-Control`; nil = nothing is stored.
        var origin: String?
        var age: TimeInterval = 0
        var mode = CacheMode.default
        var directives = ""
        var isSelected = true
        var isPurged = false
        var ground: CacheEvaluation.Reason
        var section: String?

        var testDescription: String { "\(origin ?? "-") at \(age), \(mode), \(directives): \(ground)" }

        func evaluation() -> CacheEvaluation {
            var stored = origin.map { Origin.response(["Cache-Control: \($0)"]) }
            if isPurged { stored?.staleSince = Origin.later(0) }
            let directives = RequestDirectives(Origin.fields(["Cache-Control: \(directives)"]))
            return CacheEvaluation(
                stored: stored?.freshness(FreshnessPolicy()), isSelected: isSelected,
                demand: RequestCachePolicy(mode: mode, directives: directives, allowsForcedRefresh: true), now: Origin.later(age))
        }
    }

    private static let maxAge = "RFC 9111 §5.2.2.1"

    @Test(arguments: [
        Case(ground: .miss, section: "RFC 9111 §4"),
        Case(mode: .reload, ground: .miss, section: "RFC 9111 §4"),
        Case(origin: "max-age=9", isSelected: false, ground: .vary, section: "RFC 9111 §4.1"),
        Case(origin: "max-age=9", ground: .fresh, section: maxAge),
        Case(origin: "s-maxage=9", ground: .fresh, section: "RFC 9111 §5.2.2.10"),
        Case(origin: "public", ground: .fresh, section: nil),
        Case(origin: "max-age=9", age: 9, ground: .stale, section: "RFC 9111 §4.2.4"),
        Case(origin: "max-age=9", age: 1, isPurged: true, ground: .purged, section: nil),
        Case(origin: "no-cache", ground: .mustValidate, section: "RFC 9111 §5.2.2.4"),
        Case(origin: "max-age=9, must-revalidate", age: 9, ground: .mustRevalidate, section: "RFC 9111 §4.2.4"),
        Case(
            origin: "max-age=9, stale-while-revalidate=9", age: 9, ground: .staleWhileRevalidate,
            section: "RFC 5861 §3"),
        Case(origin: "max-age=9", mode: .noCache, ground: .mode, section: nil),
        Case(origin: "max-age=9", mode: .refresh, ground: .mode, section: nil),
        Case(origin: "max-age=9", age: 99, mode: .refresh, ground: .mode, section: nil),
        Case(origin: "max-age=9", age: 99, mode: .forceCache, ground: .mode, section: nil),
        Case(origin: "max-age=9", directives: "no-cache", ground: .request, section: "RFC 9111 §5.2.1"),
        Case(origin: "max-age=9", age: 9, directives: "max-age=99", ground: .freshOnly, section: "RFC 9111 §5.2.1"),
        Case(origin: "max-age=9", age: 10, directives: "max-stale=9", ground: .maxStale, section: "RFC 9111 §5.2.1.2"),
        Case(directives: "only-if-cached", ground: .onlyIfCached, section: "RFC 9111 §5.2.1.7"),
        Case(
            origin: "max-age=9", age: 9, directives: "only-if-cached", ground: .onlyIfCached,
            section: "RFC 9111 §5.2.1.7"),
        Case(origin: "max-age=9", mode: .onlyIfCached, ground: .fresh, section: maxAge),
    ])
    func `each ground has its section`(_ row: Case) {
        let evaluation = row.evaluation()
        #expect(evaluation.reason == row.reason)
        #expect(evaluation.section == row.section)
    }

    @Test func `a reason is one sentence that names where a lifetime is from`() {
        #expect(
            Case(origin: "max-age=9", ground: .fresh).evaluation().explanation == "It is fresh by the origin's max-age.")
        #expect(
            Case(origin: "max-age=x", ground: .stale).evaluation().explanation
                == "It is stale by what the origin says, which cannot be read.")
        let stored = Origin.response(["Cache-Control: max-age=9"]).freshness(FreshnessPolicy())
        let demand = RequestCachePolicy()
        for evaluation in [.staleIfError(stored), .gone(stored, policy: demand)] as [CacheEvaluation] {
            #expect(evaluation.explanation.hasSuffix("."))
            #expect(evaluation.basis == .maxAge)
        }
        #expect(CacheEvaluation.staleIfError(stored).section == "RFC 5861 §4")
    }

    @Test func `what is gone is asked for, or refused to who forbids to ask`() {
        let stored = Origin.response(["Cache-Control: max-age=9"]).freshness(FreshnessPolicy())
        #expect(CacheEvaluation.gone(stored, policy: RequestCachePolicy()).decision == .ask(.miss))
        #expect(CacheEvaluation.gone(stored, policy: RequestCachePolicy()).reason == .gone)
        let refused = CacheEvaluation.gone(stored, policy: RequestCachePolicy(mode: .onlyIfCached))
        #expect(refused.decision == .refuse)
        #expect(refused.reason == .onlyIfCached)
    }
}
