import DarkroomHTTPCaching
import Foundation
import HTTPTypes
import Testing

@testable import DarkroomPipeline

/// What is known of a request, and the step that follows.
struct ResolutionCase: Sendable {
    /// The origin's `Cache-Control`; nil for an unknown source.
    var control: String? = "max-age=60"
    var age = 10.0
    var isSelected = true
    var mode = CacheMode.default
    var forcesOrigin = false
    var wantsPlaceholders = false
    var hasInterim = false
    /// The entries that are available.
    var present: Set<Resolution.Fact> = []
    var decodingFailure: PipelineError?
    var originFailure: PipelineError?

    var resolution: Resolution {
        let stored = control.map { control in
            StoredResponse(
                status: 200, fields: .control(control), sent: [:], requestedAt: WallClock.start,
                receivedAt: WallClock.start
            ).freshness(FreshnessPolicy())
        }
        return Resolution(
            stored: stored, isSelected: isSelected,
            demands: Resolution.Demands(
                policy: RequestCachePolicy(mode: mode), forcesOrigin: forcesOrigin,
                wantsPlaceholders: wantsPlaceholders, hasInterim: hasInterim),
            now: WallClock.start.addingTimeInterval(age))
    }

    /// Looks up facts until a step follows.
    func decide(_ resolution: inout Resolution) -> (decision: Resolution.Decision, lookedUp: [Resolution.Fact]) {
        var lookedUp: [Resolution.Fact] = []
        while case .lookUp(let fact) = resolution.next().step, lookedUp.count < 10 {
            lookedUp.append(fact)
            switch fact {
            case .variant, .interimVariant, .placeholders, .original:
                resolution.record(fact, isPresent: present.contains(fact))
            case .decodingFailure: resolution.record(decodingFailure, of: fact)
            case .originFailure: resolution.record(originFailure, of: fact)
            }
        }
        return (resolution.next(), lookedUp)
    }
}

/// The decision how a request is answered, as a table from facts to steps.
struct ResolutionTests {
    private static let outage = PipelineError.originFailed(OriginFailure("It failed.", receivedStatus: 500))
    private static let swr = "max-age=60, stale-while-revalidate=30"
    private static let sie = "max-age=60, stale-if-error=100"

    @Test(
        arguments: [
            (ResolutionCase(control: nil), .fetch(.unconditional, .miss), .miss),
            (ResolutionCase(present: [.variant, .original]), .useVariant, .fresh),
            (ResolutionCase(present: [.original]), .produce, .fresh),
            (ResolutionCase(), .fetch(.unconditional, .miss), .gone),
            (ResolutionCase(present: [.original], decodingFailure: .corrupt), .fail(.corrupt), .fresh),
            (ResolutionCase(age: 70, present: [.variant]), .fetch(.conditional, .stale), .stale),
            (ResolutionCase(control: swr, age: 70, present: [.variant]), .useVariant, .staleWhileRevalidate),
            (ResolutionCase(control: swr, age: 70), .fetch(.unconditional, .miss), .gone),
            (ResolutionCase(isSelected: false, present: [.variant]), .fetch(.unconditional, .varyMiss), .vary),
            (ResolutionCase(mode: .reload, present: [.variant]), .fetch(.reload, .request), .mode),
            (ResolutionCase(mode: .noCache, present: [.variant]), .fetch(.conditional, .request), .mode),
            (ResolutionCase(age: 700, mode: .forceCache, present: [.variant]), .useVariant, .mode),
        ] as [(ResolutionCase, Resolution.Step, CacheEvaluation.Reason)])
    func `What is cached decides`(
        state: ResolutionCase, step: Resolution.Step, ground: CacheEvaluation.Reason
    ) {
        var resolution = state.resolution
        let decision = state.decide(&resolution).decision
        #expect(decision.step == step)
        #expect(decision.evaluation.reason == ground)
        #expect(decision.revalidatesInBackground == (ground == .staleWhileRevalidate))
        #expect(decision.staleBecause == nil)
    }

    @Test(arguments: [
        ResolutionCase(control: nil, mode: .onlyIfCached), ResolutionCase(mode: .onlyIfCached),
        ResolutionCase(control: "no-cache", mode: .onlyIfCached, present: [.variant]),
    ])
    func `Without permission to contact the origin, a request that the caches cannot answer fails`(
        state: ResolutionCase
    ) {
        var resolution = state.resolution
        let decision = state.decide(&resolution).decision
        #expect(decision.step == .fail(.notCached))
        #expect(decision.evaluation.decision == .refuse)
    }

    @Test(
        arguments: [
            (ResolutionCase(control: nil, originFailure: outage), .fail(outage)),
            (ResolutionCase(control: sie, age: 70, present: [.variant], originFailure: outage), .useVariant),
            (ResolutionCase(control: sie, age: 70, present: [.original], originFailure: outage), .produce),
            (ResolutionCase(control: sie, age: 70, originFailure: outage), .fail(outage)),
            (ResolutionCase(control: sie, age: 170, present: [.variant], originFailure: outage), .fail(outage)),
            (
                ResolutionCase(
                    control: "max-age=60, must-revalidate", age: 70, present: [.variant], originFailure: outage),
                .fail(outage)
            ),
            (
                ResolutionCase(control: sie, age: 70, isSelected: false, present: [.variant], originFailure: outage),
                .fail(outage)
            ),
            (
                ResolutionCase(
                    control: sie, age: 70, present: [.variant], originFailure: .notFound(status: 404)),
                .fail(.notFound(status: 404))
            ),
            (
                ResolutionCase(control: sie, age: 70, forcesOrigin: true, present: [.variant], originFailure: outage),
                .fetch(.conditional, .stale)
            ),
        ] as [(ResolutionCase, Resolution.Step)])
    func `A remembered failure is the answer unless a stale image may be used`(
        state: ResolutionCase, step: Resolution.Step
    ) {
        var resolution = state.resolution
        let decision = state.decide(&resolution).decision
        #expect(decision.step == step)
        let isStale = step == .useVariant || step == .produce
        #expect(decision.staleBecause == (isStale ? Self.outage : nil))
        #expect((decision.evaluation.reason == .staleIfError) == isStale)
    }

    @Test(
        arguments: [
            ([.variant, .placeholders], .useVariant), ([.variant, .original], .useVariant),
            ([.variant], .fetch(.unconditional, .miss)), ([.original], .produce),
        ] as [(Set<Resolution.Fact>, Resolution.Step)])
    func `Placeholders need their document or the original`(
        present: Set<Resolution.Fact>, step: Resolution.Step
    ) {
        let state = ResolutionCase(wantsPlaceholders: true, present: present)
        var resolution = state.resolution
        #expect(state.decide(&resolution).decision.step == step)
    }

    @Test(
        arguments: [
            (ResolutionCase(present: [.variant]), [.variant]),
            (ResolutionCase(present: [.original]), [.variant, .decodingFailure, .original]),
            (ResolutionCase(control: nil), [.originFailure]),
            (ResolutionCase(age: 70, present: [.variant]), [.originFailure]),
            (ResolutionCase(mode: .onlyIfCached, present: [.variant]), [.variant]),
        ] as [(ResolutionCase, [Resolution.Fact])])
    func `Only the facts that matter are looked up`(state: ResolutionCase, facts: [Resolution.Fact]) {
        var resolution = state.resolution
        #expect(state.decide(&resolution).lookedUp == facts)
    }

    @Test func `Confirmed content whose bytes are gone is fetched once`() {
        let state = ResolutionCase(age: 70)
        var resolution = state.resolution
        #expect(state.decide(&resolution).decision.step == .fetch(.conditional, .stale))
        resolution.recordAnswer(isVerified: true, hasContent: false)
        #expect(state.decide(&resolution).decision.step == .fetch(.unconditional, .miss))
        resolution.recordAnswer(isVerified: true, hasContent: false)
        #expect(state.decide(&resolution).decision.step == .fail(.failed))
    }

    @Test func `New content is made into an image, and content that is known is looked up first`() {
        let state = ResolutionCase(age: 70, present: [.variant])
        var delivered = state.resolution
        delivered.recordAnswer(isVerified: false, hasContent: true)
        #expect(state.decide(&delivered).decision.step == .produce)
        var confirmed = state.resolution
        confirmed.recordAnswer(isVerified: true, hasContent: false)
        #expect(state.decide(&confirmed).decision.step == .useVariant)
    }

    @Test func `A failed fetch leads to the stale image, and a failure of that is final`() {
        let state = ResolutionCase(control: Self.sie, age: 70, present: [.variant])
        let now = WallClock.start.addingTimeInterval(70)
        var resolution = state.resolution
        let fetch = state.decide(&resolution).decision.step
        let isReplaceable = resolution.recordFailure(Self.outage, of: fetch, at: now)
        #expect(isReplaceable)
        let decision = state.decide(&resolution).decision
        #expect(decision.step == .useVariant && decision.staleBecause == Self.outage)
        let isFinal = !resolution.recordFailure(.failed, of: .useVariant, at: now)
        #expect(isFinal)
    }

    @Test func `A failure that the origin had no part in is final`() {
        let state = ResolutionCase(present: [.original])
        var resolution = state.resolution
        let step = state.decide(&resolution).decision.step
        let isFinal = !resolution.recordFailure(.corrupt, of: step, at: WallClock.start)
        #expect(isFinal)
    }

    @Test func `A background revalidation fetches although the image may be used`() throws {
        let state = ResolutionCase(control: Self.swr, age: 70, present: [.variant])
        let stored = StoredResponse(
            status: 200, fields: .control(Self.swr), sent: [:], requestedAt: WallClock.start,
            receivedAt: WallClock.start
        ).freshness(FreshnessPolicy())
        var resolution = Resolution(
            stored: stored, isSelected: true, demands: Resolution.Demands(policy: RequestCachePolicy()),
            isRevalidation: true, now: WallClock.start.addingTimeInterval(70))
        #expect(state.decide(&resolution).decision.step == .fetch(.conditional, .stale))
    }
}
