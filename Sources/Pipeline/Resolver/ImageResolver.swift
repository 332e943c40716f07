import DarkroomCache
import DarkroomHTTPCaching
import DarkroomStore
import DarkroomTransforms
import DarkroomWaiting
import Foundation
import NIOCore

/// Answers requests: gives ``Resolution`` the known facts, and takes the step that it decides on.
///
/// There are four ways to drive it. A request is answered: facts are looked up with side effects, and the steps are
/// carried out. It is answered at once if the decision depends only on facts that need no waiting, and the variant may
/// be used. It is refused early if the decision depends only on such facts, and the pixel queue is full. Or it is
/// explained: facts are looked up without a side effect, and ``ImagePipeline/explain(_:fetch:)`` describes the
/// decision.
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
        while case .lookUp(let fact) = inquiry.resolution.next().step, findAtOnce(fact, &inquiry) {}
        return inquiry.resolution.next()
    }

    /// Decides on a step other than a lookup.
    func decide(_ inquiry: inout Inquiry) async -> Resolution.Decision {
        while case .lookUp(let fact) = inquiry.resolution.next().step { await find(fact, &inquiry) }
        return inquiry.resolution.next()
    }

    /// - Returns: false if the fact has to be waited for.
    private func findAtOnce(_ fact: Resolution.Fact, _ inquiry: inout Inquiry) -> Bool {
        let request = inquiry.request
        if fact == .originFailure {
            inquiry.resolution.record(cache.failures.current(of: request, .peek, now: now()), of: fact)
            return true
        }
        guard let content = inquiry.look.record?.content else { return false }
        switch fact {
        case .variant:
            inquiry.variant = cache.variantAtOnce(request.keys.variant, of: content, for: request.access, inquiry.look)
            guard inquiry.variant != nil else { return false }
        case .placeholders:
            inquiry.placeholders = request.outputs[.placeholders].flatMap {
                cache.variantAtOnce($0.variant, of: content, for: request.access, inquiry.look)
            }
            guard inquiry.placeholders != nil else { return false }
        case .interimVariant, .original, .decodingFailure, .originFailure: return false
        }
        inquiry.resolution.record(fact, isPresent: true)
        return true
    }

    private func find(_ fact: Resolution.Fact, _ inquiry: inout Inquiry) async {
        let (request, access, mode) = (inquiry.request, inquiry.request.access, inquiry.mode)
        if fact == .originFailure {
            return inquiry.resolution.record(cache.failures.current(of: request, mode, now: now()), of: fact)
        }
        guard let record = inquiry.look.record else { return inquiry.resolution.record(fact, isPresent: false) }
        switch fact {
        case .variant:
            await findVariant(of: record.content, &inquiry)
            inquiry.resolution.record(fact, isPresent: inquiry.variant != nil)
        case .interimVariant:
            (inquiry.variant, inquiry.isInterim) = (inquiry.interim, inquiry.interim != nil)
            inquiry.resolution.record(fact, isPresent: inquiry.isInterim)
        case .placeholders:
            inquiry.placeholders = await variant(request.outputs[.placeholders], of: record.content, inquiry)
            inquiry.resolution.record(fact, isPresent: inquiry.placeholders != nil)
        case .original:
            inquiry.original = await cache.original(record, for: access, mode)
            inquiry.resolution.record(fact, isPresent: inquiry.original != nil)
        case .decodingFailure, .originFailure:
            // A page that failed to decode is not tried again, although the original may be cached for other pages.
            inquiry.resolution.record(cache.failures.decodingFailure(of: request, record, now: now()), of: fact)
        }
    }

    private func findVariant(of content: StoreKey, _ inquiry: inout Inquiry) async {
        let request = inquiry.request
        inquiry.variant = await variant(request.keys, of: content, inquiry)
        (inquiry.interim, inquiry.isInterim) = (nil, false)
        guard inquiry.variant == nil else { return }
        inquiry.interim = await variant(request.outputs[.interim], of: content, inquiry)
        if let interim = inquiry.interim, prefersInterim(request, stored: interim.record) {
            (inquiry.variant, inquiry.isInterim) = (interim, true)
        }
    }

    /// Whether the variant is stored, in the requested output or the interim output.
    func hasVariant(_ inquiry: inout Inquiry) async -> Bool {
        guard let record = inquiry.look.record else { return false }
        await findVariant(of: record.content, &inquiry)
        return inquiry.variant != nil || inquiry.interim != nil
    }

    private func variant(
        _ keys: RequestKeys?, of content: StoreKey, _ inquiry: Inquiry
    ) async -> FoundVariant? {
        guard let keys else { return nil }
        let request = inquiry.request
        let found = await cache.variant(keys.variant, of: content, for: request.access, inquiry.look, inquiry.mode)
        return request.input.acceptsDeferredBody ? found : await found?.loaded()
    }

    // MARK: Without waiting

    /// The answer to a request, if it needs neither waiting nor contact to the origin. Nil means that ``image(for:_:)``
    /// has to look further.
    ///
    /// - Parameter look: the result of an earlier lookup; nil = look up what is found at once.
    func imageAtOnce(for request: ResolvedRequest, _ look: CacheLook? = nil) -> ImageResponse? {
        guard !request.cache.waitsForDisk, let look = look ?? cache.lookAtOnce(request.access),
            let record = look.record, !record.varies
        else { return nil }
        var inquiry = Inquiry(request, look, now: now())
        let decision = decideAtOnce(&inquiry)
        guard decision.step == .useVariant, !decision.revalidatesInBackground, decision.staleBecause == nil,
            let variant = inquiry.variant, variant.deferredBody == nil || request.input.acceptsDeferredBody
        else { return nil }
        var response = response(variant, record, CacheReport(variant: variant.tier))
        response.placeholders = inquiry.placeholders.flatMap { Placeholders(json: $0.body) }
        return response
    }

    /// The refusal of a request that no cache can answer and that would start a fetch.
    func earlyRefusal(of request: ResolvedRequest) -> Admission.Refusal? {
        guard cache.isUnknown(request.access) else { return nil }
        var inquiry = Inquiry(request, CacheLook(), now: now())
        guard case .fetch(let mode, _) = decideAtOnce(&inquiry).step else { return nil }
        return fetcher.refusal(of: request, mode)
    }

    // MARK: With waiting

    /// The answer to a request.
    ///
    /// Placeholders may require a download of a source that is no longer cached. If they fail, a cached image is
    /// returned without them.
    func image(for request: ResolvedRequest, _ look: CacheLook? = nil) async throws(PipelineError) -> ImageResponse {
        if let interim = try await imageWhileUpgrading(request) { return interim }
        do throws(PipelineError) {
            var inquiry = await inquiry(request, look)
            return try await carryOut(&inquiry)
        } catch {
            guard request.mayDropPlaceholders(after: error) else { throw error }
            var inquiry = await inquiry(request.without(.placeholders))
            guard await hasVariant(&inquiry) else { throw error }
            return try await carryOut(&inquiry)
        }
    }

    /// Looks up a request's source, in farther tiers if the entries in nearer tiers may not be used.
    func inquiry(
        _ request: ResolvedRequest, _ near: CacheLook? = nil, _ mode: LookMode = .use
    ) async -> Inquiry {
        var look = near
        if look == nil { look = await cache.look(request.access, mode) }
        var isSelected = await fetcher.fetch.isSelected(look?.record, for: request)
        var inquiry = Inquiry(request, look ?? CacheLook(), isSelected: isSelected, mode, now: now())
        if !inquiry.resolution.mayUseStored, !request.cache.policy.mode.ignoresStored,
            await cache.lookFurther(request.access, &inquiry.look, mode)
        {
            isSelected = await fetcher.fetch.isSelected(inquiry.look.record, for: request)
            inquiry = Inquiry(request, inquiry.look, isSelected: isSelected, mode, now: now())
        }
        return inquiry
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
                inquiry.restart(with: known)
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
                inquiry.placeholders = await variant(document.keys, of: record.content, inquiry)
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

    /// Produces a request's variant, with its mark if it has one.
    func produce(
        _ request: ResolvedRequest, from original: Original
    ) async throws(PipelineError) -> VariantProducer.Produced {
        try await producer.produce(request, from: original) { () async throws(PipelineError) in
            try await originalOfMark(of: request)
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
            timings: timings, quality: variant.quality, gaps: variant.gaps, originFields: record.response.fields,
            record: record)
    }
}

/// The known facts for one request, and the decision that follows from them.
struct Inquiry {
    let request: ResolvedRequest
    let mode: LookMode
    var resolution: Resolution
    /// The known entries of the source: from the caches, later from the origin's answer.
    var look: CacheLook
    var variant: FoundVariant?
    /// The variant in the interim output, looked up if the requested output is not stored.
    var interim: FoundVariant?
    /// Whether `variant` is in the interim output.
    var isInterim = false
    /// The document that holds the placeholders.
    var placeholders: FoundVariant?
    var original: Original?
    var report = CacheReport()
    var stopwatch = Stopwatch()

    /// - Parameter isSelected: whether the record's `Vary` matches the request (RFC 9111 §4.1).
    init(
        _ request: ResolvedRequest, _ look: CacheLook, isSelected: Bool = true, _ mode: LookMode = .use,
        isRevalidation: Bool = false, now: Date
    ) {
        self.request = request
        self.look = look
        self.mode = mode
        resolution = Resolution(
            stored: look.record?.freshness, isSelected: isSelected, demands: request.demands,
            isRevalidation: isRevalidation, now: now)
    }

    /// Discards the found entries, since a step failed.
    mutating func restart(with known: SourceRecord?) {
        look = CacheLook(record: known)
        (variant, interim, isInterim, placeholders, original) = (nil, nil, false, nil, nil)
        report = CacheReport()
        stopwatch = Stopwatch()
    }
}
