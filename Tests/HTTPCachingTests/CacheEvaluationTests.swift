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
        var reason: CacheEvaluation.Reason
        var section: String?

        var testDescription: String { "\(origin ?? "-") at \(age), \(mode), \(directives): \(reason)" }

        func evaluation() -> CacheEvaluation {
            var stored = origin.map { Origin.response(["Cache-Control: \($0)"]) }
            if isPurged { stored?.staleSince = Origin.later(0) }
            let directives = RequestDirectives(Origin.fields(["Cache-Control: \(directives)"]))
            return CacheEvaluation(
                stored: stored?.freshness(FreshnessPolicy()), isSelected: isSelected,
                policy: RequestCachePolicy(mode: mode, directives: directives, allowsForcedRefresh: true),
                now: Origin.later(age))
        }
    }

    private static let maxAge = "RFC 9111 §5.2.2.1"

    @Test(arguments: [
        Case(reason: .miss, section: "RFC 9111 §4"),
        Case(mode: .reload, reason: .miss, section: "RFC 9111 §4"),
        Case(origin: "max-age=9", isSelected: false, reason: .vary, section: "RFC 9111 §4.1"),
        Case(origin: "max-age=9", reason: .fresh, section: maxAge),
        Case(origin: "s-maxage=9", reason: .fresh, section: "RFC 9111 §5.2.2.10"),
        Case(origin: "public", reason: .fresh, section: nil),
        Case(origin: "max-age=9", age: 9, reason: .stale, section: "RFC 9111 §4.2.4"),
        Case(origin: "max-age=9", age: 1, isPurged: true, reason: .purged, section: nil),
        Case(origin: "no-cache", reason: .mustValidate, section: "RFC 9111 §5.2.2.4"),
        Case(origin: "max-age=9, must-revalidate", age: 9, reason: .mustRevalidate, section: "RFC 9111 §4.2.4"),
        Case(
            origin: "max-age=9, stale-while-revalidate=9", age: 9, reason: .staleWhileRevalidate,
            section: "RFC 5861 §3"),
        Case(origin: "max-age=9", mode: .noCache, reason: .mode, section: nil),
        Case(origin: "max-age=9", mode: .refresh, reason: .mode, section: nil),
        Case(origin: "max-age=9", age: 99, mode: .refresh, reason: .mode, section: nil),
        Case(origin: "max-age=9", age: 99, mode: .forceCache, reason: .mode, section: nil),
        Case(origin: "max-age=9", directives: "no-cache", reason: .request, section: "RFC 9111 §5.2.1"),
        Case(origin: "max-age=9", age: 9, directives: "max-age=99", reason: .freshOnly, section: "RFC 9111 §5.2.1"),
        Case(origin: "max-age=9", age: 10, directives: "max-stale=9", reason: .maxStale, section: "RFC 9111 §5.2.1.2"),
        Case(directives: "only-if-cached", reason: .onlyIfCached, section: "RFC 9111 §5.2.1.7"),
        Case(
            origin: "max-age=9", age: 9, directives: "only-if-cached", reason: .onlyIfCached,
            section: "RFC 9111 §5.2.1.7"),
        Case(origin: "max-age=9", mode: .onlyIfCached, reason: .fresh, section: maxAge),
    ])
    func `Each reason has its section`(_ row: Case) {
        let evaluation = row.evaluation()
        #expect(evaluation.reason == row.reason)
        #expect(evaluation.section == row.section)
    }

    @Test func `A reason is one sentence that names where a lifetime is from`() {
        #expect(
            Case(origin: "max-age=9", reason: .fresh).evaluation().explanation
                == "The stored response is fresh according to the origin's max-age.")
        #expect(
            Case(origin: "max-age=x", reason: .stale).evaluation().explanation
                == "The stored response is stale according to an origin caching field that is malformed.")
        let stored = Origin.response(["Cache-Control: max-age=9"]).freshness(FreshnessPolicy())
        let policy = RequestCachePolicy()
        for evaluation in [.staleIfError(stored), .gone(stored, policy: policy)] as [CacheEvaluation] {
            #expect(evaluation.explanation.hasSuffix("."))
            #expect(evaluation.basis == .maxAge)
        }
        #expect(CacheEvaluation.staleIfError(stored).section == "RFC 5861 §4")
    }

    @Test func `What is gone is asked for, or refused to who forbids to ask`() {
        let stored = Origin.response(["Cache-Control: max-age=9"]).freshness(FreshnessPolicy())
        #expect(CacheEvaluation.gone(stored, policy: RequestCachePolicy()).decision == .ask(.miss))
        #expect(CacheEvaluation.gone(stored, policy: RequestCachePolicy()).reason == .gone)
        let refused = CacheEvaluation.gone(stored, policy: RequestCachePolicy(mode: .onlyIfCached))
        #expect(refused.decision == .refuse)
        #expect(refused.reason == .onlyIfCached)
    }
}
