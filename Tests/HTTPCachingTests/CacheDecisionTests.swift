import Foundation
import HTTPTypes
import Testing

@testable import DarkroomHTTPCaching

struct CacheDecisionTests {
    /// Fresh for 100 s, then for another 10 s of use while revalidating.
    private static let stored = Origin.response(["Cache-Control: max-age=100, stale-while-revalidate=10"])
    private static let strict = Origin.response(["Cache-Control: max-age=100, must-revalidate"])
    private static let unsure = Origin.response(["Cache-Control: max-age=100, no-cache"])

    private func decide(
        _ stored: StoredResponse? = CacheDecisionTests.stored, at seconds: TimeInterval, _ mode: CacheMode = .default,
        _ directives: String? = nil, allowsForcedRefresh: Bool = false, isSelected: Bool = true
    ) -> CacheDecision {
        let fields = directives.map { Origin.fields(["Cache-Control: \($0)"]) } ?? HTTPFields()
        return CacheEvaluation(
            stored: stored?.freshness(FreshnessPolicy()), isSelected: isSelected,
            policy: RequestCachePolicy(
                mode: mode, directives: RequestDirectives(fields), allowsForcedRefresh: allowsForcedRefresh),
            now: Origin.later(seconds)
        ).decision
    }

    @Test func `A fresh response is used, a stale one revalidated, behind the answer while the window is open`() {
        #expect(decide(at: 99) == .use)
        #expect(decide(at: 100) == .useAndRevalidate)
        #expect(decide(at: 109) == .useAndRevalidate)
        #expect(decide(at: 110) == .ask(.stale))
        #expect(decide(nil, at: 0) == .ask(.miss))
        #expect(decide(at: 0, isSelected: false) == .ask(.varyMiss))
        #expect(decide(Self.strict, at: 99) == .use)
        #expect(decide(Self.strict, at: 100) == .ask(.stale))
        #expect(decide(Self.unsure, at: 0) == .ask(.stale))
    }

    @Test(
        arguments: [
            (.noStore, .ask(.request), .ask(.request), .ask(.miss)),
            (.reload, .ask(.request), .ask(.request), .ask(.miss)),
            (.noCache, .ask(.request), .ask(.request), .ask(.miss)),
            (.forceCache, .use, .use, .ask(.miss)),
            (.onlyIfCached, .use, .use, .refuse),
            (.refresh, .useAndRevalidate, .useAndRevalidate, .ask(.miss)),
            (.default, .use, .ask(.stale), .ask(.miss)),
        ] as [(CacheMode, CacheDecision, CacheDecision, CacheDecision)])
    func `Each mode has its own idea of fresh, stale and missing`(
        mode: CacheMode, fresh: CacheDecision, stale: CacheDecision, missing: CacheDecision
    ) {
        #expect(decide(at: 1, mode) == fresh)
        #expect(decide(at: 500, mode) == stale)
        #expect(decide(nil, at: 1, mode) == missing)
    }

    @Test func `No mode uses what its origin forbids to use`() {
        for mode in [CacheMode.forceCache, .refresh] {
            #expect(decide(Self.strict, at: 500, mode) == .ask(.stale))
            #expect(decide(Self.unsure, at: 1, mode) == .ask(.stale))
        }
        #expect(decide(Self.strict, at: 500, .onlyIfCached) == .refuse)
        #expect(decide(Self.unsure, at: 1, .onlyIfCached) == .refuse)
        #expect(decide(at: 1, .onlyIfCached, isSelected: false) == .refuse)
        #expect(decide(Self.strict, at: 500, .default, "max-stale") == .ask(.stale))
    }

    @Test(arguments: [
        ("no-cache", 1), ("max-age=0", 1), ("max-age=0, max-stale", 1), ("min-fresh=100", 1), ("min-fresh=500", 1),
    ])
    func `Only some clients may make us ask the origin anew`(directives: String, seconds: Double) {
        #expect(decide(at: seconds, .default, directives) == .use)
        #expect(decide(at: seconds, .default, directives, allowsForcedRefresh: true) == .ask(.request))
    }

    @Test func `Strangers' wishes that our own answer could meet are obeyed`() {
        #expect(decide(at: 30, .default, "max-age=30") == .use)
        #expect(decide(at: 31, .default, "max-age=30") == .ask(.request))
        #expect(decide(at: 70, .default, "min-fresh=30") == .use)
        #expect(decide(at: 71, .default, "min-fresh=30") == .ask(.request))
        // Who names an oldest age takes nothing stale (RFC 9111 §5.2.1.1).
        #expect(decide(at: 105, .default, "max-age=300") == .ask(.stale))
        #expect(decide(at: 105, .default, "max-age=300, max-stale=1") == .useAndRevalidate)
        #expect(decide(at: 105, .default, "min-fresh=1") == .ask(.stale))
    }

    @Test func `A client may take what is stale by so much`() {
        #expect(decide(at: 120, .default, "max-stale=19") == .ask(.stale))
        #expect(decide(at: 120, .default, "max-stale=20") == .use)
        #expect(decide(at: 86_400 * 3_650, .default, "max-stale") == .use)
        #expect(decide(at: 120, .default, "max-stale=x") == .ask(.stale))
    }

    @Test func `only-if-cached turns every question to the origin into a refusal`() {
        #expect(decide(at: 1, .default, "only-if-cached") == .use)
        #expect(decide(at: 105, .default, "only-if-cached") == .use)
        #expect(decide(at: 500, .default, "only-if-cached") == .refuse)
        #expect(decide(at: 500, .default, "only-if-cached, max-stale") == .use)
        #expect(decide(at: 1, .default, "only-if-cached, no-cache", allowsForcedRefresh: true) == .refuse)
        #expect(decide(nil, at: 1, .forceCache, "only-if-cached") == .refuse)
    }

    @Test(arguments: ["max-age=5", "max-age=10", "min-fresh=595"])
    func `Nobody who may not makes us ask for what not even a new answer could satisfy`(directive: String) {
        // From a cache on the way, so that every answer is ten seconds old when it comes.
        let stored = Origin.response(["Cache-Control: max-age=600", "Age: 10"]).freshness(FreshnessPolicy())
        func decide(allowsForcedRefresh: Bool) -> CacheDecision {
            let directives = RequestDirectives(Origin.fields(["Cache-Control: \(directive)"]))
            return CacheEvaluation(
                stored: stored, isSelected: true,
                policy: RequestCachePolicy(directives: directives, allowsForcedRefresh: allowsForcedRefresh),
                now: Origin.later(1)
            ).decision
        }
        #expect(decide(allowsForcedRefresh: false) == .use)
        #expect(decide(allowsForcedRefresh: true) == .ask(.request))
    }

    @Test func `A mode that was chosen overrules the directives`() {
        #expect(decide(at: 500, .forceCache, "no-cache, max-age=1", allowsForcedRefresh: true) == .use)
        #expect(decide(at: 1, .noCache, "max-stale") == .ask(.request))
    }

    @Test func `Nothing is used beyond its lifetime and windows without the client's consent`() {
        var numbers = SystemRandomNumberGenerator()
        for _ in 0..<5_000 {
            var flags = ["must-revalidate", "no-cache", "s-maxage=9", "public"].shuffled(using: &numbers).prefix(1)
            flags.append("max-age=\(Int.random(in: 0...50, using: &numbers))")
            flags.append("stale-while-revalidate=\(Int.random(in: 0...50, using: &numbers))")
            var stored = Origin.response(["Cache-Control: " + flags.joined(separator: ", ")])
            if Bool.random(using: &numbers) { stored.staleSince = Origin.later(5) }
            let freshness = stored.freshness(FreshnessPolicy())
            let policy = RequestCachePolicy(
                directives: RequestDirectives(
                    Origin.fields(["Cache-Control: max-age=\(Int.random(in: 0...99, using: &numbers))"])),
                allowsForcedRefresh: Bool.random(using: &numbers))
            let now = Origin.later(.random(in: 5...200, using: &numbers))
            let decision = CacheEvaluation(stored: freshness, isSelected: true, policy: policy, now: now).decision
            let rest = freshness.remaining(at: now)
            switch decision {
            case .use: #expect(rest > .zero && !freshness.needsValidation)
            case .useAndRevalidate: #expect(rest + freshness.staleWhileRevalidate > .zero)
            case .ask: break
            case .refuse: Issue.record("Nobody said only-if-cached.")
            }
        }
    }

    @Test func `Reasons have the words of Cache-Status`() {
        let reasons = [CacheStatus.Reason.miss, .varyMiss, .stale, .request]
        #expect(reasons.map(\.rawValue) == ["miss", "vary-miss", "stale", "request"])
    }
}

struct CacheDemandTests {
    @Test func `Modes are the words of the Fetch standard, and refresh`() {
        let words = ["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached", "refresh"]
        #expect(CacheMode.allCases.map(\.rawValue) == words)
        #expect(CacheMode.allCases.filter(\.forcesOriginRequest) == [.noStore, .reload, .noCache, .refresh])
        #expect(CacheMode.allCases.filter(\.ignoresStored) == [.noStore, .reload])
    }

    @Test(
        arguments: [
            (["Cache-Control: NO-cache, no-store, only-if-cached"], true, true, true),
            (["Pragma: no-cache"], true, false, false), (["Pragma: x"], false, false, false),
            (["Pragma: no-cache", "Cache-Control: max-age=1"], false, false, false), ([], false, false, false),
        ] as [([String], Bool, Bool, Bool)])
    func `Pragma counts where there is no Cache-Control`(
        fields: [String], noCache: Bool, noStore: Bool, onlyIfCached: Bool
    ) {
        let directives = RequestDirectives(Origin.fields(fields))
        #expect(directives.noCache == noCache)
        #expect(directives.noStore == noStore)
        #expect(directives.onlyIfCached == onlyIfCached)
    }

    @Test func `The directives of requests have numbers like responses, or none`() {
        let directives = RequestDirectives(
            Origin.fields(["Cache-Control: max-age=5, max-age=9, min-fresh=-1, max-stale=\"7\""]))
        #expect(directives.maxAge == .seconds(5))
        #expect(directives.minFresh == nil)
        #expect(directives.maxStale == .seconds(7))
        #expect(RequestDirectives(Origin.fields(["Cache-Control: max-stale"])).maxStale == RequestDirectives.unlimited)
        #expect(RequestDirectives([:]) == RequestDirectives())
    }

    @Test func `no-store of the client or of the origin keeps a response out of the cache`() {
        let noStore = RequestDirectives(Origin.fields(["Cache-Control: no-store"]))
        #expect(RequestCachePolicy().allowsStoring)
        #expect(!RequestCachePolicy(directives: noStore).allowsStoring)
        #expect(!RequestCachePolicy(mode: .noStore).allowsStoring)
        #expect(RequestCachePolicy(mode: .reload).allowsStoring)
    }
}
