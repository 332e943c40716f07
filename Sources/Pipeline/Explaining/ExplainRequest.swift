import DarkroomNetwork
import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomTransforms
import Foundation

/// Goes the way of `AnswerImage` with its hands behind its back: looks where that would look, and says what it would do.
struct ExplainRequest: Sendable {
    let answer: AnswerImage
    let limits: PixelLimits

    private var keep: KeepResults { answer.keep }

    /// - Parameter fetch: whether the source may be downloaded where its bytes are not at hand.
    func callAsFunction(
        _ wanted: Wanted, keys: Explanation.Keys, fetch: Bool
    ) async throws(PipelineError) -> Explanation {
        let found = await Holdings(of: wanted, in: keep)
        let inUse = keep.inUse[wanted.keys.source].flatMap { $0.mayBeStored ? $0 : nil }
        let known = inUse?.record ?? found.record
        let evaluation = try await judge(found, known: known, inUse: inUse, wanted)
        let atHand = inUse ?? found.original
        let original = try await self.original(atHand, known, evaluation, wanted, fetch: fetch)
        let plan = try await plan(original, wanted, evaluation)
        let now = answer.now()
        let freshness = known?.freshness
        var explanation = Explanation(
            source: wanted.request.source.canonical, fallback: wanted.request.fallback?.canonical, keys: keys,
            caches: found.entries,
            freshness: Explanation.Verdict(
                evaluation: evaluation, lifetime: freshness?.lifetime, age: freshness?.age(at: now),
                remaining: freshness?.remaining(at: now)),
            format: found.variant?.format ?? wanted.request.output.format, plan: plan, limits: [])
        if case .planned(let plan) = plan {
            explanation.format = plan.format
            explanation.limits = plan.usage(of: limits)
        }
        return explanation
    }

    /// What the caches' answer would be; throws where the request would fail without the origin's having a say.
    private func judge(
        _ found: Holdings, known: SourceRecord?, inUse: Original?, _ wanted: Wanted
    ) async throws(PipelineError) -> CacheEvaluation {
        let demand = wanted.request.cache.policy
        let isSelected = await answer.isSelected(known, wanted)
        var evaluation = CacheEvaluation(
            stored: known?.freshness, isSelected: isSelected, policy: demand, now: answer.now())
        switch evaluation.decision {
        case .use, .useAndRevalidate:
            if let known, found.variant == nil {
                try refuseUndecodable(known, wanted)
                if found.original == nil, inUse == nil { evaluation = .gone(known.freshness, policy: demand) }
            }
        case .ask, .refuse: break
        }
        guard case .ask = evaluation.decision else { return evaluation }
        return try await asking(evaluation, known, wanted)
    }

    private func refuseUndecodable(_ known: SourceRecord, _ wanted: Wanted) throws(PipelineError) {
        let failures = answer.failures
        guard let evidence = failures.undecodable(of: wanted, now: answer.now()),
            evidence.record.content == known.content
        else { return }
        throw failures.peek(of: wanted, now: answer.now()) ?? evidence.error
    }

    /// The origin would have to be asked: whether that is allowed and promises anything.
    private func asking(
        _ evaluation: CacheEvaluation, _ known: SourceRecord?, _ wanted: Wanted
    ) async throws(PipelineError) -> CacheEvaluation {
        if !wanted.insists, let failure = answer.failures.peek(of: wanted, now: answer.now()) {
            guard let known, await answer.mayUse(stale: known, because: failure, wanted) else { throw failure }
            return .staleIfError(known.freshness)
        }
        guard await answer.delegate.shouldDownload(wanted.request.source) else { throw .notDownloadable }
        if let refusal = answer.origin.refusal(of: wanted.request.source) { throw PipelineError(refusal) }
        return evaluation
    }

    private func original(
        _ atHand: Original?, _ known: SourceRecord?, _ evaluation: CacheEvaluation, _ wanted: Wanted, fetch: Bool
    ) async throws(PipelineError) -> Original? {
        guard fetch, evaluation.reason != .staleIfError else { return atHand }
        switch evaluation.decision {
        case .refuse: return atHand
        case .ask(let reason):
            return try await answer.download(wanted, known: known, because: reason.status, orElse: atHand)
        case .use, .useAndRevalidate:
            guard atHand == nil else { return atHand }
            return try await answer.download(wanted, known: known, because: .miss, orElse: nil)
        }
    }

    private func plan(
        _ original: Original?, _ wanted: Wanted, _ evaluation: CacheEvaluation
    ) async throws(PipelineError) -> Explanation.PlanOutcome {
        guard let original else {
            return .missing(
                evaluation.decision == .refuse
                    ? "Only a stored answer is wanted, and the source is not stored."
                    : "The source is not in the caches; with fetch it is downloaded for this.")
        }
        let (processing, job) = (answer.produce.processing, answer.produce.job(wanted, original))
        return try await answer.produce.queue.run(urgency: wanted.urgency) { interrupt throws(PipelineError) in
            do throws(ImageProcessingError) {
                return .planned(try processing.plan(job, interrupt: interrupt))
            } catch {
                throw PipelineError(error)
            }
        }
    }
}
