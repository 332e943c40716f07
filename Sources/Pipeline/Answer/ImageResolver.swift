import DarkroomHTTPCaching
import DarkroomStore
import DarkroomTransforms
import Foundation
import NIOCore

/// Answers requests: carries out the steps that ``Resolution`` decides on.
struct ImageResolver: Sendable {
    let caches: PipelineCaches
    let writer: CacheWriter
    let failures: FailureMemory
    let variants: VariantLookup
    let originals: OriginalLookup
    let fetcher: SharedFetch
    let producer: VariantProducer
    let background: BackgroundWork
    let upgrades: FormatUpgrades
    /// See ``PipelineConfiguration/encodingBudget``.
    let encodingBudget: Duration
    let now: @Sendable () -> Date

    /// What the steps have found so far.
    private struct Findings {
        /// What is known of the source: from the caches, later from the origin's answer.
        var record: SourceRecord?
        var variant: VariantLookup.Found?
        /// The variant in the interim output, looked for where the request's own is not stored.
        var interim: VariantLookup.Found?
        /// Whether `variant` is the one in the interim output.
        var isInterim = false
        /// The document that holds the placeholders.
        var placeholders: VariantLookup.Found?
        var original: Original?
        /// What was found on disk and in the shared tier before.
        var prior = DiskFindings()
        var report = CacheReport()
        var stopwatch = Stopwatch()
    }

    /// The answer to a request whose entries are all in memory, without suspending. Nil means that
    /// ``image(for:)`` has to look further.
    func imageInMemory(for request: ResolvedRequest) -> ImageResponse? {
        guard !request.cache.waitsForDisk, request.cache.query.originals.contains(.memory),
            let record = caches.records.inMemory(request.keys.source)
        else { return nil }
        return answer(request, from: record) { variants.inMemory($0, of: record.content) }
    }

    /// The answer from what is cached, without suspending. Nil means that ``image(for:)`` has to look further.
    ///
    /// - Parameter find: finds the variant of a request, or the document with its placeholders.
    func answer(
        _ request: ResolvedRequest, from record: SourceRecord,
        find: (ResolvedRequest) -> VariantLookup.Found?
    ) -> ImageResponse? {
        if record.varies { return nil }
        var resolution = Resolution(
            stored: record.freshness, isSelected: true, demands: request.demands, now: now())
        var variant: VariantLookup.Found?
        var placeholders: Placeholders?
        while true {
            let decision = resolution.next()
            switch decision.step {
            case .lookUp(.variant):
                variant = find(request)
                guard variant != nil else { return nil }
                resolution.record(.variant, isPresent: true)
            case .lookUp(.placeholders):
                guard let document = request.placeholderRequest, let found = find(document) else { return nil }
                placeholders = Placeholders(json: found.body)
                resolution.record(.placeholders, isPresent: true)
            case .useVariant where !decision.revalidatesInBackground:
                guard let variant else { return nil }
                var response = self.response(variant, record, CacheReport(variant: variant.tier))
                if let placeholders { response.placeholders = placeholders }
                return response
            case .lookUp, .useVariant, .produce, .fetch, .fail: return nil
            }
        }
    }

    /// The answer to a request.
    ///
    /// Placeholders may cost a download of a source whose bytes are gone, but they never cost an image that is cached:
    /// if they fail, the image is returned without them.
    ///
    /// - Parameter prior: what a lookup on disk has found before.
    func image(
        for request: ResolvedRequest, prior: DiskFindings = DiskFindings()
    ) async throws(PipelineError) -> ImageResponse {
        if let interim = try await imageWhileUpgrading(request) { return interim }
        do throws(PipelineError) {
            return try await resolve(request, prior)
        } catch {
            guard request.mayDropPlaceholders(after: error), let record = await caches.record(for: request),
                await hasVariant(of: request, record.content)
            else { throw error }
            return try await resolve(request.withoutPlaceholders, DiskFindings())
        }
    }

    private func resolve(
        _ request: ResolvedRequest, _ prior: DiskFindings
    ) async throws(PipelineError) -> ImageResponse {
        var (known, prior) = (await caches.record(for: request, prior: prior), prior)
        if await mayLookInSharedTier(request, known) {
            known = await lookInSharedTier(request, known, &prior)
        }
        let isSelected = await fetcher.isSelected(known, for: request)
        var resolution = Resolution(
            stored: known?.freshness, isSelected: isSelected, demands: request.demands, now: now())
        return try await carryOut(&resolution, request, known, prior)
    }

    private func carryOut(
        _ resolution: inout Resolution, _ request: ResolvedRequest, _ known: SourceRecord?,
        _ prior: DiskFindings = DiskFindings()
    ) async throws(PipelineError) -> ImageResponse {
        var findings = Findings(record: known, prior: prior)
        while true {
            let decision = resolution.next()
            do throws(PipelineError) {
                switch decision.step {
                case .lookUp(let fact): await lookUp(fact, for: request, &resolution, &findings)
                case .useVariant, .produce: return try await respond(to: request, decision, findings)
                case .fetch(let mode, let reason):
                    try await fetch(mode, reason, for: request, &resolution, &findings)
                case .fail(let error): throw error
                }
            } catch {
                guard resolution.recordFailure(error, of: decision.step, at: now()) else { throw error }
                findings = Findings(record: known)
            }
        }
    }

    // MARK: Steps

    private func lookUp(
        _ fact: Resolution.Fact, for request: ResolvedRequest, _ resolution: inout Resolution,
        _ findings: inout Findings
    ) async {
        if fact == .originFailure {
            return resolution.record(failures.current(of: request, now: now()), of: fact)
        }
        guard let record = findings.record else { return resolution.record(fact, isPresent: false) }
        switch fact {
        case .variant:
            await lookUpVariant(of: record.content, for: request, &findings)
            resolution.record(fact, isPresent: findings.variant != nil)
        case .interimVariant:
            (findings.variant, findings.isInterim) = (findings.interim, findings.interim != nil)
            resolution.record(fact, isPresent: findings.isInterim)
        case .placeholders:
            if let document = request.placeholderRequest {
                findings.placeholders = await variants.find(document, of: record.content)
            }
            resolution.record(fact, isPresent: findings.placeholders != nil)
        case .original:
            findings.original = await originals.find(request, record)
            resolution.record(fact, isPresent: findings.original != nil)
        case .decodingFailure, .originFailure:
            // A page that failed to decode is not tried again, although the original may be cached for other pages.
            resolution.record(failures.decodingFailure(of: request, record, now: now()), of: fact)
        }
    }

    private func lookUpVariant(
        of content: StoreKey, for request: ResolvedRequest, _ findings: inout Findings
    ) async {
        findings.variant = await variants.find(request, of: content, prior: findings.prior)
        (findings.interim, findings.isInterim) = (nil, false)
        guard findings.variant == nil else { return }
        findings.interim = await interimVariant(for: request, of: content)
        if let interim = findings.interim, prefersInterim(request, stored: interim.record) {
            (findings.variant, findings.isInterim) = (interim, true)
        }
    }

    private func fetch(
        _ mode: OriginFetch.Mode, _ reason: CacheStatus.Reason, for request: ResolvedRequest,
        _ resolution: inout Resolution, _ findings: inout Findings
    ) async throws(PipelineError) {
        let (answer, isShared) = try await fetcher.answer(to: request, mode, known: findings.record)
        // A second fetch only brings the bytes of what the first one confirmed.
        if findings.report.forwarded == nil {
            findings.report = CacheReport(forwarded: reason, originStatus: answer.status, isShared: isShared)
        }
        findings.record = answer.record
        findings.original = answer.original
        findings.prior = DiskFindings(sharedVariant: findings.prior.sharedVariant)
        resolution.recordAnswer(isVerified: answer.isVerified, hasContent: answer.original != nil)
    }

    private func respond(
        to request: ResolvedRequest, _ decision: Resolution.Decision, _ findings: Findings
    ) async throws(PipelineError) -> ImageResponse {
        var findings = findings
        findings.report.staleBecause = decision.staleBecause
        guard let record = findings.record else { throw .failed }
        var response: ImageResponse
        if decision.step == .useVariant, let variant = findings.variant {
            findings.report.variant = variant.tier
            if request.cache.waitsForDisk, request.cache.store.variants.contains(.disk) {
                findings.report.isStored = await writer.waitUntilStored(variant.entry, record, for: request)
            }
            response = self.response(variant, record, findings.report)
            if findings.isInterim { response = interimResponse(response, to: request) }
        } else {
            guard let original = findings.original else { throw .failed }
            let fetchTime = findings.stopwatch.lap()
            response = try await produce(request, from: original, findings.report, fetchTime)
        }
        if let document = request.placeholderRequest {
            if decision.step == .produce {
                findings.placeholders = await variants.find(document, of: record.content)
            }
            response.placeholders = await placeholders(document, findings)
        }
        if request.keepsOriginal != .never { response.original = findings.original }
        if decision.revalidatesInBackground { revalidateInBackground(request, record) }
        return response
    }

    private func produce(
        _ request: ResolvedRequest, from original: Original, _ report: CacheReport, _ fetchTime: Duration
    ) async throws(PipelineError) -> ImageResponse {
        if let interim = request.interimRequest, await prefersInterim(request, from: original) {
            let response = try await produce(interim, from: original, report, fetchTime)
            return interimResponse(response, to: request, from: original)
        }
        let (produced, isShared) = try await producer.produce(request, from: original) {
            () async throws(PipelineError) in
            try await originalOfMark(of: request)
        }
        var report = report
        report.original = original.tier
        report.isStored = produced.isStored
        // If the origin was contacted, `isShared` speaks of that request (RFC 9211 §2.6).
        if report.forwarded == nil { report.isShared = isShared }
        var timings = produced.timings
        timings.fetch = fetchTime
        return response(produced.body, produced.record, original.record, report, timings)
    }

    /// The placeholders, from the caches or made from the original; nil if that fails.
    private func placeholders(
        _ document: ResolvedRequest, _ findings: Findings
    ) async -> Placeholders? {
        if let found = findings.placeholders { return Placeholders(json: found.body) }
        guard let original = findings.original else { return nil }
        let produced = try? await producer.produce(document, from: original) { () async throws(PipelineError) in
            try await originalOfMark(of: document)
        }.value
        return produced.flatMap { Placeholders(json: $0.body) }
    }

    private func revalidateInBackground(_ request: ResolvedRequest, _ known: SourceRecord) {
        let request = request.inBackground
        // Revalidation is pointless if its result may not be stored.
        guard !request.cache.store.union.isEmpty, failures.current(of: request, now: now()) == nil else { return }
        background.run(request.keys.source) { () async throws(PipelineError) in
            var prior = DiskFindings()
            if caches.shared != nil, request.cache.query.union.contains(.shared),
                let record = await lookInSharedTier(request, known, &prior),
                record.freshness.remaining(at: now()) > .zero
            {
                return
            }
            var resolution = Resolution(revalidating: known.freshness, demands: request.demands, now: now())
            _ = try await carryOut(&resolution, request, known)
        }
    }

    /// Counts a request that timed out in the pixel queue as refused, and returns its error.
    func recordExpiry(after wait: Duration) -> PipelineError {
        producer.pixels.queue.refuse(.expired, after: wait)
    }

    // MARK: Responses

    private func response(
        _ found: VariantLookup.Found, _ record: SourceRecord, _ report: CacheReport
    ) -> ImageResponse {
        response(found.body, found.record, record, report, Timings())
    }

    private func response(
        _ body: ByteBuffer, _ variant: VariantRecord, _ record: SourceRecord, _ report: CacheReport,
        _ timings: Timings
    ) -> ImageResponse {
        let now = now()
        return ImageResponse(
            body: body, format: variant.format, size: variant.size, sourceBytes: variant.sourceBytes,
            digest: variant.digest, lastModified: record.lastModified, age: record.freshness.age(at: now),
            remaining: record.freshness.remaining(at: now), cachePolicy: record.cachePolicy, cache: report,
            timings: timings, quality: variant.quality, originFields: record.response.fields, record: record)
    }
}
