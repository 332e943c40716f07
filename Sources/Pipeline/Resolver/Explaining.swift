import DarkroomCache
import DarkroomHTTPCaching
import DarkroomNetwork
public import DarkroomRequests
import DarkroomStore
package import DarkroomTransforms
import DarkroomWaiting
import Foundation

/// Explains requests: lets ``ImageResolver`` decide without a side effect, and stops where it would act.
extension ImagePipeline {
    /// Explains how a request would be answered at this moment, and why: its keys, caches, freshness and plan. Nothing
    /// changes: no entry counts as used, nothing is stored, and no origin is contacted unless `fetch` is true.
    ///
    /// - Parameter fetch: whether the source is downloaded if the request itself would have to, so that there is a
    ///   plan. The download is not stored, since only its header is read. The explained decision is the decision before
    ///   the download.
    /// - Throws: the error that the request would end in, as far as it is known without decoding. The request's
    ///   fallback is not considered.
    public func explain(_ request: ImageRequest, fetch: Bool = false) async throws(PipelineError) -> Explanation {
        let resolved = await resolveForInspection(request)
        return try await withDeadline(deadlines, expired: PipelineError.timedOut) { () async throws(PipelineError) in
            try await self.explain(resolved, fetch: fetch)
        }
    }

    private func explain(_ request: ResolvedRequest, fetch: Bool) async throws(PipelineError) -> Explanation {
        if request.lacksParts, let error = await errorOfPart(of: request) { throw error }
        let (decision, inquiry) = try await decision(on: request)
        let known = inquiry.look.record
        // Stored entries are reported whether or not the decision depends on them.
        var stored = inquiry
        _ = await resolver.hasVariant(&stored)
        var original = inquiry.original
        if original == nil, let known { original = await resolver.cache.original(known, for: request.access, .peek) }
        let available = fetch ? try await download(decision, request, known, original) : original
        let plan = try await self.plan(available, request, decision, fetch: fetch)
        let now = resolver.now()
        let freshness = known?.freshness
        var explanation = Explanation(
            source: request.source.canonical, fallback: request.input.fallback?.canonical, keys: keys(of: request),
            caches: await resolver.cache.entries(of: request.access, known),
            freshness: Explanation.Verdict(
                evaluation: decision.evaluation, lifetime: freshness?.lifetime, age: freshness?.age(at: now),
                remaining: freshness?.remaining(at: now)),
            format: stored.variant?.record.format ?? request.input.output.format, plan: plan, limits: [])
        explanation.decision = decision
        explanation.tags = edgeTags(
            of: [request.source] + request.input.parts.map(\.source),
            [known].compactMap(\.self) + (request.parts?.found.map(\.record) ?? []))
        explanation.parts = request.input.parts.map { part in
            let record = request.parts?.found.first { $0.part.name == part.name }?.record
            return Explanation.Part(
                name: part.name, source: part.source.canonical, contentDigest: record?.content.hex,
                remaining: record?.freshness.remaining(at: now))
        }
        if case .planned(let plan) = plan {
            explanation.format = plan.format
            if decision.step == .useVariant, !stored.isInterim, let made = stored.variant?.record.format {
                explanation.format = made
                if plan.webPChoiceWork != nil, made != plan.format { explanation.outdoneFormat = plan.format }
            }
            explanation.limits = plan.usage(of: resolver.producer.pixels.limits)
        }
        let interim = stored.isInterim || decision.step == .useVariant ? stored.interim : nil
        explain(request, interim?.record, mayUpgrade: resolver.mayUpgrade(request, from: available), &explanation)
        return explanation
    }

    private func keys(of request: ResolvedRequest) -> Explanation.Keys {
        let keys = request.keys
        return Explanation.Keys(
            filter: "\(type(of: keyFilter))", identity: keyFilter.identity(of: request.source),
            source: keys.source.hex, original: keys.original.entry.hex, record: keys.record.entry.hex,
            variant: keys.variant.entry.hex, encoderEpoch: encoderEpoch)
    }

    /// The decision at which the resolver would act, and the facts behind it.
    private func decision(
        on request: ResolvedRequest
    ) async throws(PipelineError) -> (Resolution.Decision, Inquiry) {
        var inquiry = await resolver.peek(request)
        while true {
            let decision = await resolver.decide(&inquiry)
            switch decision.step {
            case .useVariant, .produce, .fail(.notCached), .lookUp: return (decision, inquiry)
            case .fail(let error):
                guard request.mayDropPlaceholders(after: error), await resolver.hasVariant(&inquiry) else {
                    throw error
                }
                return try await self.decision(on: request.without(.placeholders))
            case .fetch:
                guard let refusal = await resolver.fetcher.fetch.refusal(of: request) else {
                    return (decision, inquiry)
                }
                _ = inquiry.resolution.recordFailure(refusal, of: decision.step, at: resolver.now())
            }
        }
    }

    // MARK: Interim answer

    /// - Parameter interim: the variant that is the answer instead of the requested output; nil if there is none.
    private func explain(
        _ request: ResolvedRequest, _ interim: VariantRecord?, mayUpgrade: Bool, _ explanation: inout Explanation
    ) {
        guard let wanted = request.input.output.format, let output = request.companion(.interim)?.input.output else {
            return
        }
        let encodingTime: Duration
        if let interim {
            guard interim.format != wanted else { return }
            explanation.format = interim.format
            encodingTime = resolver.encodingTime(of: request, at: interim.size)
        } else if case .planned(let plan) = explanation.plan, explanation.decision?.step != .useVariant,
            resolver.upgrades.jobs.isPending(request.upgradeKey) || resolver.isSlow(request, plan)
        {
            explanation.format = output.format ?? output.natural(for: plan.sourceFormat)
            encodingTime = resolver.encodingTime(of: request, at: plan.size, effort: plan.effort)
        } else {
            return
        }
        guard mayUpgrade else { return }
        explanation.upgrade = Explanation.Upgrade(
            format: wanted, isUnderWay: resolver.upgrades.jobs.isUnderWay(request.upgradeKey),
            encodingTime: encodingTime)
    }

    // MARK: Plan

    /// The original that the request would use, downloaded if necessary. A download is not stored, because it is not
    /// decoded. If the origin fails, a stale original is used under the same conditions as for the request.
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
            let answer = try await resolver.fetcher.answer(to: request, mode, known: known)
            if let original = answer.original { return original }
            if let available, available.record.content == answer.record.content { return available }
            return try await resolver.fetcher.answer(to: request, .unconditional, known: answer.record).original
        } catch {
            guard let available, let known, error.permitsStale, !request.cache.policy.mode.ignoresStored,
                known.freshness.allowsStaleOnError(at: resolver.now()),
                await resolver.fetcher.fetch.isSelected(known, for: request)
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
        guard let parts = try await parts(of: request, fetch: fetch) else {
            return .missing("An image to draw is not cached. Set fetch to download it for the plan.")
        }
        let complete = request.input.parts.isEmpty ? request : resolve(request.input, parts: parts)
        let originals = try await resolver.originalsOfParts(of: complete)
        let pixels = resolver.producer.pixels
        return .planned(
            try await pixels.plan(pixels.job(for: complete, from: original, parts: originals), request.urgency))
    }

    /// The error of fetching an uncached image to draw now, as far as it is known. Its fallback is not considered.
    private func errorOfPart(of request: ResolvedRequest) async -> PipelineError? {
        for part in request.input.parts where !part.mayBeLeftOut && part.fallback == nil {
            let asked = partRequest(part, of: request.input, request.urgency)
            if await resolver.peek(asked).look.record != nil { continue }
            if let failure = resolver.cache.failures.current(of: asked, .peek, now: resolver.now()) {
                return failure.ofPart(part.name)
            }
            if let refusal = await resolver.fetcher.fetch.refusal(of: asked) { return refusal.ofPart(part.name) }
        }
        return nil
    }

    /// The images that the request draws, with their bytes, which are downloaded if necessary and permitted, and not
    /// stored; nil if one is missing.
    private func parts(of request: ResolvedRequest, fetch: Bool) async throws(PipelineError) -> ResolvedParts? {
        var parts = ResolvedParts()
        for part in request.input.parts {
            let asked = partRequest(part, of: request.input, request.urgency)
            do throws(PipelineError) {
                guard let original = try await original(of: asked, fetch: fetch) else { return nil }
                parts.found.append(ResolvedPart(part, asked, original.record, original: original))
            } catch { throw error.ofPart(part.name) }
        }
        return parts
    }

    private func original(of part: ResolvedRequest, fetch: Bool) async throws(PipelineError) -> Original? {
        let known = await resolver.peek(part).look.record
        if let known, let original = await resolver.cache.original(known, for: part.access, .peek) { return original }
        guard fetch else { return nil }
        return try await resolver.fetcher.answer(to: part, .unconditional, known: known).original
    }
}

/// A source whose document was made, with its bytes: its images can be planned without a further download.
package struct DescribedSource: Sendable {
    /// The document.
    package let response: ImageResponse
    let original: Original?
}

extension ImagePipeline {
    /// Makes the document of a source, or of the request's fallback, and keeps the source's bytes.
    package func describe(_ request: ImageRequest) async throws(PipelineError) -> DescribedSource {
        var response = try await image(for: request, keepsOriginal: .always)
        // Without the reservation of the download, which others wait for.
        let original = response.original?.released
        response.original = nil
        return DescribedSource(response: response, original: original)
    }

    /// Plans the image of a request from a described source. Throws the errors that the request would end in, as far as
    /// they are known without decoding.
    package func plan(
        _ request: ImageRequest, of source: DescribedSource
    ) async throws(PipelineError) -> ImagePlan {
        guard let original = source.original else { throw .failed }
        let resolved = resolve(request)
        return try await withDeadline(deadlines, expired: PipelineError.timedOut) {
            [self] () async throws(PipelineError) in
            let complete = resolved.lacksParts ? try await withParts(resolved) : resolved
            let parts = try await resolver.originalsOfParts(of: complete)
            let pixels = resolver.producer.pixels
            return try await pixels.plan(pixels.job(for: complete, from: original, parts: parts), complete.urgency)
        }
    }
}

extension PipelineError {
    /// Whether planning refuses an image: no other request of the same source need be.
    package var isRefusalOfImage: Bool {
        switch self {
        case .badParameter, .tooLarge: true
        default: false
        }
    }
}
