import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import Foundation

/// Explains requests: drives the same ``Resolution`` as ``ImageResolver``, but looks facts up without a side effect,
/// and stops where the resolver would act.
struct RequestExplainer: Sendable {
    let resolver: ImageResolver
    /// The request for the mark; nil if the request to explain has none.
    let markRequest: ResolvedRequest?

    /// - Parameter fetch: whether the source may be downloaded if its bytes are not available.
    func explain(
        _ request: ResolvedRequest, keys: Explanation.Keys, fetch: Bool
    ) async throws(PipelineError) -> Explanation {
        if request.lacksMark, let error = await errorOfMark() { throw error.ofMark }
        var state = await CachedState(of: request, in: resolver.caches, now: resolver.now())
        let interim = await interim(of: request, state)
        // It counts as the variant.
        let isPreferred = interim.map { isPending(request) || resolver.prefersInterim(request, stored: $0) } ?? false
        if isPreferred, let interim { state.standIn(interim) }
        let (decision, known, original) = try await self.decision(on: request, state, hasInterim: interim != nil)
        let available = fetch ? try await download(decision, request, known, original) : original
        let plan = try await self.plan(available, request, decision, fetch: fetch)
        let now = resolver.now()
        let freshness = known?.freshness
        var explanation = Explanation(
            source: request.source.canonical, fallback: request.input.fallback?.canonical, keys: keys,
            caches: state.entries,
            freshness: Explanation.Verdict(
                evaluation: decision.evaluation, lifetime: freshness?.lifetime, age: freshness?.age(at: now),
                remaining: freshness?.remaining(at: now)),
            format: state.variant?.format ?? request.input.output.format, plan: plan, limits: [])
        explanation.decision = decision
        explanation.mark = request.input.mark.map { mark in
            let record = request.mark?.record
            return Explanation.Mark(
                source: mark.canonical, contentDigest: record?.content.hex,
                remaining: record?.freshness.remaining(at: now))
        }
        if case .planned(let plan) = plan {
            explanation.format = plan.format
            explanation.limits = plan.usage(of: resolver.producer.pixels.limits)
        }
        let isUsed = isPreferred || decision.step == .useVariant
        explain(
            request, isUsed ? interim : nil, mayUpgrade: resolver.mayUpgrade(request, from: available), &explanation)
        return explanation
    }

    /// The decision at which the resolver would act, the record it is based on, and the original, if it is available.
    private func decision(
        on request: ResolvedRequest, _ state: CachedState, hasInterim: Bool
    ) async throws(PipelineError) -> (Resolution.Decision, SourceRecord?, Original?) {
        let inUse = resolver.caches.originalsInUse[request.keys.source].flatMap { $0.mayBeStored ? $0 : nil }
        let known = inUse?.record ?? state.record
        let original = known.flatMap { resolver.originals.inUse(request, $0) } ?? state.original
        let facts = Facts(
            request: request, known: known, state: state, hasInterim: hasInterim, hasOriginal: original != nil)
        do throws(PipelineError) {
            return (try await decision(on: request, facts), known, original)
        } catch {
            guard request.mayDropPlaceholders(after: error), state.variant != nil || hasInterim else { throw error }
            return (try await decision(on: request.withoutPlaceholders, facts), known, original)
        }
    }

    private func decision(
        on request: ResolvedRequest, _ facts: Facts
    ) async throws(PipelineError) -> Resolution.Decision {
        let isSelected = await resolver.fetcher.isSelected(facts.known, for: request)
        var resolution = Resolution(
            stored: facts.known?.freshness, isSelected: isSelected, demands: request.demands, now: resolver.now())
        while true {
            let decision = resolution.next()
            switch decision.step {
            case .lookUp(let fact): record(fact, facts, &resolution)
            case .useVariant, .produce, .fail(.notCached): return decision
            case .fail(let error): throw error
            case .fetch:
                guard let refusal = await resolver.fetcher.fetch.refusal(of: request) else { return decision }
                _ = resolution.recordFailure(refusal, of: decision.step, at: resolver.now())
            }
        }
    }

    /// The facts that the resolver would look up.
    private struct Facts {
        let request: ResolvedRequest
        let known: SourceRecord?
        let state: CachedState
        let hasInterim: Bool
        let hasOriginal: Bool
    }

    private func record(_ fact: Resolution.Fact, _ facts: Facts, _ resolution: inout Resolution) {
        let now = resolver.now()
        switch fact {
        case .variant: resolution.record(fact, isPresent: facts.state.variant != nil)
        case .interimVariant: resolution.record(fact, isPresent: facts.hasInterim)
        case .placeholders: resolution.record(fact, isPresent: facts.state.hasPlaceholders)
        case .original: resolution.record(fact, isPresent: facts.hasOriginal)
        case .decodingFailure:
            let failure = facts.known.flatMap {
                resolver.failures.decodingFailure(of: facts.request, $0, now: now)
            }
            resolution.record(failure, of: fact)
        case .originFailure: resolution.record(resolver.failures.peek(facts.request, now: now), of: fact)
        }
    }

    // MARK: Interim answer

    private func isPending(_ request: ResolvedRequest) -> Bool {
        request.interimKeys != nil && resolver.upgrades.isPending(request.upgradeKey)
    }

    /// The variant in the interim output, if it is stored and the request's own is not.
    private func interim(of request: ResolvedRequest, _ state: CachedState) async -> VariantRecord? {
        guard state.variant == nil, let interim = request.interimRequest else { return nil }
        return await CachedState(of: interim, in: resolver.caches, now: resolver.now()).variant
    }

    /// - Parameter interim: the variant that is the answer in place of the request's own; nil if there is none.
    private func explain(
        _ request: ResolvedRequest, _ interim: VariantRecord?, mayUpgrade: Bool, _ explanation: inout Explanation
    ) {
        guard let wanted = request.input.output.format, let output = request.interimRequest?.input.output else {
            return
        }
        let size: PixelSize
        if let interim {
            guard interim.format != wanted else { return }
            (explanation.format, size) = (interim.format, interim.size)
        } else if case .planned(let plan) = explanation.plan, explanation.decision?.step != .useVariant,
            isPending(request) || resolver.isSlow(request, plan)
        {
            let natural = OutputFormat.natural(for: plan.sourceFormat, hasAlpha: false)
            (explanation.format, size) = (output.format ?? natural, plan.size)
        } else {
            return
        }
        guard mayUpgrade else { return }
        explanation.upgrade = Explanation.Upgrade(
            format: wanted, isUnderWay: resolver.upgrades.isUnderWay(request.upgradeKey),
            encodingTime: resolver.encodingTime(of: request, at: size))
    }

    // MARK: Plan

    /// The original that the request would use, downloaded if necessary. A download is not stored, since no image is
    /// made from it. If the origin fails, a stale original is used under the same conditions as for the request.
    private func download(
        _ decision: Resolution.Decision, _ request: ResolvedRequest, _ known: SourceRecord?, _ available: Original?
    ) async throws(PipelineError) -> Original? {
        guard decision.staleBecause == nil else { return available }
        var mode = OriginFetch.Mode.unconditional
        switch decision.step {
        case .fetch(let fetchMode, _): mode = fetchMode
        case .useVariant where available == nil: break
        case .useVariant, .produce, .fail, .lookUp: return available
        }
        do throws(PipelineError) {
            let (answer, _) = try await resolver.fetcher.answer(to: request, mode, known: known)
            if let original = answer.original { return original }
            if let available, available.record.content == answer.record.content { return available }
            return try await resolver.fetcher.answer(to: request, .unconditional, known: answer.record).0.original
        } catch {
            guard let available, let known, error.permitsStale, !request.cache.policy.mode.ignoresStored,
                known.freshness.allowsStaleOnError(at: resolver.now()),
                await resolver.fetcher.isSelected(known, for: request)
            else { throw error }
            return available
        }
    }

    private func plan(
        _ original: Original?, _ request: ResolvedRequest, _ decision: Resolution.Decision, fetch: Bool
    ) async throws(PipelineError) -> Explanation.PlanOutcome {
        guard let original else {
            return .missing(
                decision.step == .fail(.notCached)
                    ? "The request accepts only a cached answer, and the source is not cached."
                    : "The source is not cached. Set fetch to download it for the plan.")
        }
        let mark = try await self.mark(of: request, fetch: fetch)
        guard request.input.mark == nil || mark != nil else {
            return .missing("The mark is not cached. Set fetch to download it for the plan.")
        }
        let pixels = resolver.producer.pixels
        return .planned(try await pixels.plan(pixels.job(for: request, from: original, mark: mark), request.urgency))
    }

    /// Why a mark of which nothing is cached could not be fetched now, as far as that is known.
    private func errorOfMark() async -> PipelineError? {
        guard let markRequest else { return nil }
        if let failure = resolver.failures.peek(markRequest, now: resolver.now()) { return failure }
        return await resolver.fetcher.fetch.refusal(of: markRequest)
    }

    /// The bytes of the request's mark, downloaded if necessary and permitted, and not stored.
    private func mark(of request: ResolvedRequest, fetch: Bool) async throws(PipelineError) -> Original? {
        guard let markRequest else { return nil }
        let state = await CachedState(of: markRequest, in: resolver.caches, now: resolver.now())
        guard state.original == nil, fetch else { return state.original }
        do throws(PipelineError) {
            return try await resolver.fetcher.answer(to: markRequest, .unconditional, known: state.record).0.original
        } catch {
            throw error.ofMark
        }
    }
}
