import DarkroomCache
import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import DarkroomWaiting
import Foundation
import NIOCore

/// Answers requests: gives ``Resolution`` the known facts, and takes the step that it decides on.
///
/// Each request is one ``Inquiry``, which is asked in this order. Is it answered now: does the decision depend only on
/// facts that need no waiting, and may the variant be used? Does it fail now: does the decision depend only on such
/// facts, and is a failure remembered? Is it refused: does it depend only on such facts, and is the pixel queue full?
/// Is it answered after one lookup on disk? Otherwise, the steps are carried out. An inquiry that only peeks is
/// explained instead: ``ImagePipeline/explain(_:fetch:)`` describes the decision.
struct ImageResolver: Sendable {
    let cache: ImageCache
    let fetcher: SharedFetch
    let producer: VariantProducer
    let deadlines: DeadlineTimer
    /// Revalidations, by source. A later request for the source starts one that was dropped.
    let background = OwnedTasks<StoreKey>(capacity: 64)
    let upgrades: FormatUpgrades
    /// See ``PipelineConfiguration/encodingBudget``.
    let encodingBudget: Duration
    let now: @Sendable () -> Date

    // MARK: Facts

    /// Decides by the facts that need no waiting. The step is a lookup if another fact matters.
    private func decideAtOnce(_ inquiry: inout Inquiry) -> Resolution.Decision {
        while true {
            let decision = inquiry.resolution.next()
            guard case .lookUp(let fact) = decision.step, findAtOnce(fact, &inquiry) else { return decision }
        }
    }

    /// Decides on a step other than a lookup. Waits only for the facts that are not found at once.
    func decide(_ inquiry: inout Inquiry) async -> Resolution.Decision {
        while true {
            let decision = decideAtOnce(&inquiry)
            guard case .lookUp(let fact) = decision.step else { return decision }
            await findFurther(fact, &inquiry)
        }
    }

    /// - Returns: false if the fact has to be waited for.
    private func findAtOnce(_ fact: Resolution.Fact, _ inquiry: inout Inquiry) -> Bool {
        switch fact {
        case .variant:
            inquiry.variant = variantAtOnce(inquiry.request.keys, inquiry)
            (inquiry.interim, inquiry.isInterim) = (nil, false)
            guard isWithBody(inquiry.variant, inquiry) else { return false }
            inquiry.resolution.record(fact, isPresent: true)
        case .placeholders:
            inquiry.placeholders = variantAtOnce(inquiry.request.outputs[.placeholders], inquiry)
            guard isWithBody(inquiry.placeholders, inquiry) else { return false }
            inquiry.resolution.record(fact, isPresent: true)
        case .interimVariant:
            (inquiry.variant, inquiry.isInterim) = (inquiry.interim, inquiry.interim != nil)
            inquiry.resolution.record(fact, isPresent: inquiry.isInterim)
        case .original: return false
        case .decodingFailure:
            // A page that failed to decode is not tried again, although the original may be cached for other pages.
            let failure = inquiry.look.record.flatMap {
                cache.failures.decodingFailure(of: inquiry.request, $0, now: now())
            }
            inquiry.resolution.record(failure, of: fact)
        case .originFailure:
            inquiry.resolution.record(cache.failures.current(of: inquiry.request, inquiry.mode, now: now()), of: fact)
        }
        return true
    }

    /// Waits for a fact that was not found at once.
    private func findFurther(_ fact: Resolution.Fact, _ inquiry: inout Inquiry) async {
        let request = inquiry.request
        switch fact {
        case .variant:
            inquiry.variant = await variant(request.keys, foundAtOnce: inquiry.variant, inquiry)
            if inquiry.variant == nil { await findInterim(&inquiry) }
            inquiry.resolution.record(fact, isPresent: inquiry.variant != nil)
        case .placeholders:
            let keys = request.outputs[.placeholders]
            inquiry.placeholders = await variant(keys, foundAtOnce: inquiry.placeholders, inquiry)
            inquiry.resolution.record(fact, isPresent: inquiry.placeholders != nil)
        case .original:
            if let record = inquiry.look.record {
                inquiry.original = await cache.original(record, for: request.access, inquiry.mode)
            }
            inquiry.resolution.record(fact, isPresent: inquiry.original != nil)
        case .interimVariant, .decodingFailure, .originFailure: break  // are always found at once
        }
    }

    private func findInterim(_ inquiry: inout Inquiry) async {
        let keys = inquiry.request.outputs[.interim]
        inquiry.interim = await variant(keys, foundAtOnce: variantAtOnce(keys, inquiry), inquiry)
        if let interim = inquiry.interim, prefersInterim(inquiry.request, stored: interim.record) {
            (inquiry.variant, inquiry.isInterim) = (interim, true)
        }
    }

    /// Whether the variant is stored, in the requested output or the interim output.
    func hasVariant(_ inquiry: inout Inquiry) async -> Bool {
        if !findAtOnce(.variant, &inquiry) { await findFurther(.variant, &inquiry) }
        return inquiry.variant != nil || inquiry.interim != nil
    }

    /// A variant of the known content, maybe with its body left on disk; nil if it has to be waited for.
    private func variantAtOnce(_ keys: RequestKeys?, _ inquiry: Inquiry) -> FoundVariant? {
        guard let keys, let content = inquiry.look.record?.content else { return nil }
        return cache.variantAtOnce(
            keys.variant, of: content, for: inquiry.request.access, inquiry.look, inquiry.mode)
    }

    /// A variant of the known content with its body, from the farther tiers if it was not found at once.
    private func variant(
        _ keys: RequestKeys?, foundAtOnce: FoundVariant?, _ inquiry: Inquiry
    ) async -> FoundVariant? {
        guard let keys, let content = inquiry.look.record?.content else { return nil }
        var found = foundAtOnce
        if found == nil {
            found = await cache.furtherVariant(
                keys.variant, of: content, for: inquiry.request.access, inquiry.look, inquiry.mode)
        }
        return isWithBody(found, inquiry) ? found : await found?.loaded()
    }

    /// Whether a variant was found, with its body in memory unless the request accepts it on disk.
    private func isWithBody(_ found: FoundVariant?, _ inquiry: Inquiry) -> Bool {
        guard let found else { return false }
        return found.deferredBody == nil || inquiry.request.input.acceptsDeferredBody
    }

    // MARK: At once

    /// The inquiry about a request, with what is known of its source without waiting.
    func inquiry(_ request: ResolvedRequest) -> Inquiry {
        let look = request.lacksParts ? nil : cache.lookAtOnce(request.access)
        return Inquiry(request, look, now: now())
    }

    /// The answer, if it needs neither waiting nor contact to the origin.
    func answerNow(_ inquiry: inout Inquiry) -> ImageResponse? {
        guard !inquiry.request.cache.waitsForDisk, let record = inquiry.look.record, !record.varies
        else { return nil }
        let decision = decideAtOnce(&inquiry)
        guard decision.step == .useVariant, !decision.revalidatesInBackground, decision.staleBecause == nil,
            let variant = inquiry.variant
        else { return nil }
        var response = response(variant, record, CacheReport(variant: variant.tier))
        response.placeholders = inquiry.placeholders.flatMap { Placeholders(json: $0.body) }
        return response
    }

    /// The failure of a request that no cache can answer, if that needs no contact to the origin.
    func failureNow(_ inquiry: inout Inquiry) -> PipelineError? {
        let request = inquiry.request
        guard inquiry.look.record == nil, case .fail(let error) = decideAtOnce(&inquiry).step,
            request.input.fallback == nil || !error.permitsFallback(for: request.input.fallbackStatuses),
            request.outputs[.interim] == nil || !upgrades.jobs.isPending(request.upgradeKey),
            // Last, because it may read the index on disk.
            cache.isUnknown(request.access)
        else { return nil }
        return error
    }

    /// The refusal of a request that no cache can answer and that would start a fetch.
    func refusal(_ inquiry: inout Inquiry) -> Admission.Refusal? {
        guard cache.isUnknown(inquiry.request.access),
            case .fetch(let mode, _) = decideAtOnce(&inquiry).step
        else { return nil }
        return fetcher.refusal(of: inquiry.request, mode)
    }

    // MARK: Further

    /// Looks up the source of an inquiry in memory and on this machine's disk.
    func look(_ inquiry: inout Inquiry) async {
        inquiry.take(await cache.look(inquiry.request.access, inquiry.mode), now: now())
    }

    /// The answer to a request that is part of another.
    func image(for request: ResolvedRequest) async throws(PipelineError) -> ImageResponse {
        try await image(fresh(request))
    }

    /// The inquiry about a request of whose source nothing was looked up.
    func fresh(_ request: ResolvedRequest) -> Inquiry { Inquiry(request, now: now()) }

    /// The answer to an inquiry.
    ///
    /// Placeholders may require a download of a source that is no longer cached. If they fail, a cached image is
    /// returned without them.
    func image(_ inquiry: Inquiry) async throws(PipelineError) -> ImageResponse {
        let request = inquiry.request
        if let interim = try await imageWhileUpgrading(request) { return interim }
        do throws(PipelineError) {
            var inquiry = inquiry
            await lookEverywhere(&inquiry)
            return try await carryOut(&inquiry)
        } catch {
            guard request.mayDropPlaceholders(after: error) else { throw error }
            var inquiry = fresh(request.without(.placeholders))
            await lookEverywhere(&inquiry)
            guard await hasVariant(&inquiry) else { throw error }
            return try await carryOut(&inquiry)
        }
    }

    /// The inquiry about a request that changes nothing, with what is known of its source in all tiers.
    func peek(_ request: ResolvedRequest) async -> Inquiry {
        var inquiry = Inquiry(request, nil, .peek, now: now())
        await lookEverywhere(&inquiry)
        return inquiry
    }

    /// Looks up the source of an inquiry, in farther tiers if the entries in nearer tiers may not be used.
    private func lookEverywhere(_ inquiry: inout Inquiry) async {
        let request = inquiry.request
        if !inquiry.hasLooked { await look(&inquiry) }
        await select(&inquiry)
        if !inquiry.resolution.mayUseStored, !request.cache.policy.mode.ignoresStored,
            await cache.lookFurther(request.access, &inquiry.look, inquiry.mode)
        {
            inquiry.decideAnew(now: now())
            await select(&inquiry)
        }
        inquiry.stopwatch = Stopwatch()
    }

    /// A record whose `Vary` does not match the request does not count (RFC 9111 §4.1).
    private func select(_ inquiry: inout Inquiry) async {
        guard await !fetcher.fetch.isSelected(inquiry.look.record, for: inquiry.request) else { return }
        inquiry.decideAnew(isSelected: false, now: now())
    }

    private func carryOut(_ inquiry: inout Inquiry) async throws(PipelineError) -> ImageResponse {
        let known = inquiry.look.record
        while true {
            let decision = await decide(&inquiry)
            do throws(PipelineError) {
                switch decision.step {
                case .useVariant, .produce: return try await respond(decision, &inquiry)
                case .fetch(let mode, let reason): try await fetch(mode, reason, &inquiry)
                case .fail(let error): throw error
                case .lookUp: break
                }
            } catch {
                guard inquiry.resolution.recordFailure(error, of: decision.step, at: now()) else { throw error }
                inquiry.restart(with: CacheLook(record: known))
            }
        }
    }

    // MARK: Steps

    private func fetch(
        _ mode: OriginFetch.Mode, _ reason: CacheStatus.Reason, _ inquiry: inout Inquiry
    ) async throws(PipelineError) {
        let answer = try await fetcher.answer(to: inquiry.request, mode, known: inquiry.look.record)
        // A second fetch only brings the bytes that the first fetch confirmed.
        if inquiry.report.forwarded == nil {
            inquiry.report = CacheReport(forwarded: reason, originStatus: answer.status, isShared: answer.isShared)
        }
        inquiry.look.replaceRecord(answer.record)
        inquiry.original = answer.original
        inquiry.resolution.recordAnswer(isVerified: answer.isVerified, hasContent: answer.original != nil)
    }

    private func respond(
        _ decision: Resolution.Decision, _ inquiry: inout Inquiry
    ) async throws(PipelineError) -> ImageResponse {
        let request = inquiry.request
        inquiry.report.staleBecause = decision.staleBecause
        guard let record = inquiry.look.record else { throw .failed }
        var response: ImageResponse
        if decision.step == .useVariant, let variant = inquiry.variant {
            inquiry.report.variant = variant.tier
            inquiry.report.isStored = await cache.confirmStored(variant.entry, record, for: request.access)
            response = self.response(variant, record, inquiry.report)
            if inquiry.isInterim { response = interimResponse(response, to: request) }
        } else {
            guard let original = inquiry.original else { throw .failed }
            let fetchTime = inquiry.stopwatch.lap()
            response = try await produce(request, from: original, inquiry.report, fetchTime)
        }
        if let document = request.companion(.placeholders) {
            if decision.step == .produce {
                let found = variantAtOnce(document.keys, inquiry)
                inquiry.placeholders = await variant(document.keys, foundAtOnce: found, inquiry)
            }
            response.placeholders = await placeholders(document, inquiry)
        }
        if request.keepsOriginal != .never { response.original = inquiry.original }
        if decision.revalidatesInBackground { revalidateInBackground(request, record) }
        return response
    }

    private func produce(
        _ request: ResolvedRequest, from original: Original, _ report: CacheReport, _ fetchTime: Duration
    ) async throws(PipelineError) -> ImageResponse {
        if let interim = request.companion(.interim), await prefersInterim(request, from: original) {
            let response = try await produce(interim, from: original, report, fetchTime)
            return interimResponse(response, to: request, from: original)
        }
        let produced = try await produce(request, from: original)
        var report = report
        report.original = original.tier
        report.isStored = produced.isStored
        // If the origin was contacted, `isShared` speaks of that request (RFC 9211 §2.6).
        if report.forwarded == nil { report.isShared = produced.isShared }
        var timings = produced.timings
        timings.fetch = fetchTime
        var response = response(produced.body, produced.record, original.record, report, timings)
        response.isDamaged = produced.isDamaged
        return response
    }

    /// Produces a request's variant, with the images that it draws.
    func produce(
        _ request: ResolvedRequest, from original: Original
    ) async throws(PipelineError) -> VariantProducer.Produced {
        try await producer.produce(request, from: original) { () async throws(PipelineError) in
            guard let parts = request.parts?.found, !parts.isEmpty else { return [] }
            let parking = original.park()
            defer { parking?.end() }
            let originals = try await originalsOfParts(of: request)
            for part in parts { part.parking?.end() }
            return originals
        }
    }

    /// The placeholders, from the caches or computed from the original; nil if that fails.
    private func placeholders(_ document: ResolvedRequest, _ inquiry: Inquiry) async -> Placeholders? {
        if let found = inquiry.placeholders { return Placeholders(json: found.body) }
        guard let original = inquiry.original else { return nil }
        let produced = try? await produce(document, from: original)
        return produced.flatMap { Placeholders(json: $0.body) }
    }

    private func revalidateInBackground(_ request: ResolvedRequest, _ known: SourceRecord) {
        let request = request.inBackground
        // Revalidation is pointless if its result may not be stored.
        guard !request.cache.store.union.isEmpty, cache.failures.current(of: request, now: now()) == nil else { return }
        background.run(request.keys.source) {
            try? await withDeadline(deadlines, expired: PipelineError.timedOut) { () async throws(PipelineError) in
                try await revalidate(request, known)
            }
        }
    }

    private func revalidate(_ request: ResolvedRequest, _ known: SourceRecord) async throws(PipelineError) {
        var look = CacheLook(record: known)
        if await cache.lookFurther(request.access, &look), let record = look.record,
            record.freshness.remaining(at: now()) > .zero
        {
            return
        }
        var inquiry = Inquiry(request, CacheLook(record: known), isRevalidation: true, now: now())
        _ = try await carryOut(&inquiry)
    }

    // MARK: Responses

    private func response(_ variant: FoundVariant, _ record: SourceRecord, _ report: CacheReport) -> ImageResponse {
        var response = response(variant.body, variant.record, record, report)
        response.deferredBody = variant.deferredBody
        return response
    }

    private func response(
        _ body: ByteBuffer, _ variant: VariantRecord, _ record: SourceRecord, _ report: CacheReport,
        _ timings: Timings = Timings()
    ) -> ImageResponse {
        let now = now()
        return ImageResponse(
            body: body, format: variant.format, size: variant.size, sourceBytes: variant.sourceBytes,
            digest: variant.digest, lastModified: record.lastModified, age: record.freshness.age(at: now),
            remaining: record.freshness.remaining(at: now), cachePolicy: record.cachePolicy, cache: report,
            timings: timings, quality: variant.quality, gaps: variant.gaps, faces: variant.faces,
            originFields: record.response.fields, record: record)
    }
}
