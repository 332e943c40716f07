import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomStore
import Foundation
import HTTPTypes
import NIOCore

/// Decides where a picture comes from, and gets it: caches, origin, pixel threads, in the order that RFC 9111 wants.
struct AnswerImage: Sendable {
    let origin: any OriginFetching
    let delegate: any ImagePipelineDelegate
    let keep: KeepResults
    let failures: FailureMemory
    let find: FindVariant
    let load: LoadOriginal
    let ask: AskOrigin
    let produce: ProduceVariant
    let makePreview: MakePreview
    let asks: Coalescer<Asking, AskOrigin.Answer>
    let transfers = Transfers<Asking>()
    let background: BackgroundWork
    let now: @Sendable () -> Date

    /// What has to be equal for a question to the origin to be shared.
    struct Asking: Hashable, Sendable {
        let source: StoreKey
        let question: AskOrigin.Question
        /// Nobody joins what began before a purge.
        let moment: Generations.Moment
    }

    /// The path of a hot picture: memory alone, without suspending. Nil = look on.
    func atOnce(_ wanted: Wanted) -> ImageResponse? {
        guard !wanted.request.cache.waitsForDisk, wanted.request.cache.query.originals.contains(.memory),
            let record = keep.records.inMemory(wanted.keys.source), !record.varies,
            case .use = decide(record, isSelected: true, wanted),
            let found = find.inMemory(wanted, of: record.content)
        else { return nil }
        let picture = response(found, record, CacheReport(variant: found.layer))
        guard let document = wanted.document else { return picture }
        return find.inMemory(document, of: record.content).map { picture.with(Placeholders(toldBy: $0.body)) }
    }

    func callAsFunction(_ wanted: Wanted) async throws(PipelineError) -> ImageResponse {
        let known = await known(wanted)
        switch decide(known, isSelected: await isSelected(known, wanted), wanted) {
        case .use:
            if let known, let picture = try await fromCaches(wanted, known) { return picture }
            // The record outlived what it tells of.
            guard wanted.mayAsk else { throw .notCached }
            return try await fromOrigin(wanted, known: known, because: .miss)
        case .useAndRevalidate:
            guard let known, let picture = try await fromCaches(wanted, known) else {
                return try await fromOrigin(wanted, known: known, because: .miss)
            }
            revalidateInBackground(wanted, known)
            return picture
        case .ask(let reason):
            return try await fromOrigin(wanted, known: known, because: reason.status)
        case .refuse:
            throw .notCached
        }
    }

    /// What is known of the source: from a download whose picture is being made, or from the caches.
    private func known(_ wanted: Wanted) async -> SourceRecord? {
        if let original = keep.inUse[wanted.keys.source], original.layer == nil, original.mayBeStored {
            return original.record
        }
        return await keep.known(wanted)
    }

    private func decide(_ known: SourceRecord?, isSelected: Bool, _ wanted: Wanted) -> CacheDecision {
        CacheDecision.decide(
            stored: known?.freshness, isSelected: isSelected, policy: wanted.request.cache.policy, now: now())
    }

    /// `Vary` (RFC 9111 §4.1), held against what the origin would be sent now.
    func isSelected(_ known: SourceRecord?, _ wanted: Wanted) async -> Bool {
        guard let known, known.varies else { return true }
        let fields = await delegate.originFields([:], for: wanted.request.source)
        return known.response.isSelected(
            bySending: origin.sentFields(for: OriginRequest(url: wanted.request.source, headers: fields)))
    }

    /// A picture of known content, found or made, without asking anybody. Nil where the bytes are gone.
    private func fromCaches(
        _ wanted: Wanted, _ record: SourceRecord, _ report: CacheReport = CacheReport(),
        since start: Stopwatch = .init()
    ) async throws(PipelineError) -> ImageResponse? {
        var report = report
        var start = start
        if let found = await find(wanted, of: record.content) {
            report.variant = found.layer
            if wanted.request.cache.waitsForDisk, wanted.request.cache.store.variants.contains(.disk) {
                report.isStored = await keep.settle(found.entry, record, wanted)
            }
            return await withPlaceholders(response(found, record, report), wanted, record)
        }
        // A page that did not decode is not tried again each time, though the original is there for the sake of others.
        if let evidence = failures.undecodable(of: wanted, now: now()), evidence.record.content == record.content {
            throw failures.current(of: wanted, now: now()) ?? evidence.error
        }
        guard let original = await load(wanted, record) else { return nil }
        return try await make(wanted, original, report, fetch: start.lap())
    }

    private func make(
        _ wanted: Wanted, _ original: Original, _ report: CacheReport, fetch: Duration
    ) async throws(PipelineError) -> ImageResponse {
        let (made, isShared) = try await produce(wanted, from: original)
        var report = report
        report.original = original.layer
        report.isStored = made.isStored
        // Where the origin was asked, it is that question which was shared or not (RFC 9211 §2.6).
        if report.forwarded == nil { report.isShared = isShared }
        var timings = made.timings
        timings.fetch = fetch
        let picture = response(made.body, made.record, original.record, report, timings)
        return await withPlaceholders(picture, wanted, original.record, original) ?? picture
    }

    /// The picture with its placeholders, found or made; without them where that fails. Nil where the source's bytes are gone, which
    /// they are told of.
    private func withPlaceholders(
        _ picture: ImageResponse, _ wanted: Wanted, _ record: SourceRecord, _ original: Original? = nil
    ) async -> ImageResponse? {
        guard let document = wanted.document else { return picture }
        if let found = await find(document, of: record.content) {
            return picture.with(Placeholders(toldBy: found.body))
        }
        var original = original
        if original == nil { original = await load(document, record) }
        guard let original else { return nil }
        let told = try? await make(document, original, CacheReport(), fetch: .zero)
        return picture.with(told.flatMap { Placeholders(toldBy: $0.body) })
    }

    // MARK: Asking

    private func fromOrigin(
        _ wanted: Wanted, known: SourceRecord?, because reason: CacheStatus.Reason
    ) async throws(PipelineError) -> ImageResponse {
        let watch = Stopwatch()
        if !wanted.insists, let failure = failures.current(of: wanted, now: now()) {
            return try await stale(wanted, known, because: failure)
        }
        do throws(PipelineError) {
            let question = wanted.question(known: known, reason)
            let (answer, isShared) = try await answer(wanted, question, known: known)
            if isShared { await keepToo(answer, wanted) }
            let report = CacheReport(forwarded: reason, originStatus: answer.status, isShared: isShared)
            if answer.isProven, let picture = try await fromCaches(wanted, answer.record, report, since: watch) {
                return picture
            }
            if let original = answer.original { return try await made(wanted, original, report, since: watch) }
            // Still right, but its bytes are nowhere any more.
            let (whole, _) = try await self.answer(wanted, .content, known: answer.record)
            if let original = whole.original { return try await made(wanted, original, report, since: watch) }
            // Another request has brought them meanwhile.
            guard let picture = try await fromCaches(wanted, whole.record, report, since: watch) else { throw .failed }
            return picture
        } catch {
            return try await stale(wanted, known, because: error)
        }
    }

    private func made(
        _ wanted: Wanted, _ original: Original, _ report: CacheReport, since watch: Stopwatch
    ) async throws(PipelineError) -> ImageResponse {
        var watch = watch
        return try await make(wanted, original, report, fetch: watch.lap())
    }

    func answer(
        _ wanted: Wanted, _ question: AskOrigin.Question, known: SourceRecord?
    ) async throws(PipelineError) -> (AskOrigin.Answer, Bool) {
        let ask = ask
        let asking = Asking(
            source: wanted.keys.source, question: question, moment: wanted.moment)
        // Under a flood most end here, before anything is begun for them.
        if known == nil, asks.waiters(for: asking) == 0, let error = produce.queue.refusal(of: wanted.urgency) {
            throw error
        }
        let endWatch = watch(asking, wanted)
        defer { endWatch?() }
        let (answer, isShared) = try await asks.value(for: asking, urgency: wanted.urgency) {
            urgency throws(PipelineError) in
            if let answer = await answeredMeanwhile(wanted, since: known) { return answer }
            let download = { () async throws(PipelineError) in
                try await transfers.run(asking) { report throws(PipelineError) in
                    try await ask(wanted, question, known: known, urgency: urgency, report: report)
                }
            }
            // What is known may still be right, and then nothing has to be made.
            guard known == nil else { return try await download() }
            return try await produce.queue.expecting(urgency, download)
        }
        return (answer, isShared || answer.isShared)
    }

    /// Tells the request's task of the download, whoever began it, until what is given back is called.
    private func watch(_ asking: Asking, _ wanted: Wanted) -> (() -> Void)? {
        guard let watcher = wanted.watcher else { return nil }
        let number = transfers.listen(to: asking) { [makePreview] partial, transfer in
            watcher.hear(partial, in: transfer, of: wanted, makePreview)
        }
        return {
            transfers.leave(asking, number)
            watcher.endDownload()
        }
    }

    /// Whoever asked may have kept less of a confirmation than this request does.
    private func keepToo(_ answer: AskOrigin.Answer, _ wanted: Wanted) async {
        guard answer.record.isProven, answer.original?.mayBeStored != false,
            keep.records.inMemory(wanted.keys.source) !== answer.record
        else { return }
        await keep.keep(answer.record, wanted)
    }

    /// What another request has learned between our look into the caches and our turn to ask.
    private func answeredMeanwhile(_ wanted: Wanted, since known: SourceRecord?) async -> AskOrigin.Answer? {
        let original = keep.inUse[wanted.keys.source].flatMap { $0.mayBeStored ? $0 : nil }
        let looks = wanted.request.cache.query.any.contains(.memory)
        guard !wanted.insists,
            let record = original?.record ?? (looks ? keep.records.inMemory(wanted.keys.source) : nil),
            record !== known, case .use = decide(record, isSelected: await isSelected(record, wanted), wanted)
        else { return nil }
        return AskOrigin.Answer(
            record: record, original: original, status: 200, isProven: original == nil, isShared: true)
    }

    /// The stale picture where the origin failed and did not forbid it (RFC 5861 §4); else the failure.
    private func stale(
        _ wanted: Wanted, _ known: SourceRecord?, because error: PipelineError
    ) async throws(PipelineError) -> ImageResponse {
        guard let known, await mayUse(stale: known, because: error, wanted),
            let picture = try await fromCaches(wanted, known, CacheReport(staleBecause: error))
        else { throw error }
        return picture
    }

    func mayUse(stale known: SourceRecord, because error: PipelineError, _ wanted: Wanted) async -> Bool {
        guard error.excusesStale, wanted.mayUseStale, known.freshness.allowsStaleOnError(at: now()) else {
            return false
        }
        return await isSelected(known, wanted)
    }

    private func revalidateInBackground(_ wanted: Wanted, _ known: SourceRecord) {
        let wanted = wanted.inBackground
        // What may not be kept would be asked for in vain.
        guard !wanted.request.cache.store.any.isEmpty, failures.current(of: wanted, now: now()) == nil else { return }
        background.run(wanted.keys.source) { () async throws(PipelineError) in
            _ = try await fromOrigin(wanted, known: known, because: .stale)
        }
    }

    // MARK: Answers

    private func response(
        _ found: FindVariant.Found, _ record: SourceRecord, _ report: CacheReport
    ) -> ImageResponse {
        response(found.body, found.record, record, report, Timings())
    }

    private func response(
        _ body: ByteBuffer, _ variant: VariantRecord, _ record: SourceRecord, _ report: CacheReport,
        _ timings: Timings
    ) -> ImageResponse {
        let now = now()
        return ImageResponse(
            body: body, format: variant.format, digest: variant.digest, lastModified: record.lastModified,
            age: record.freshness.age(at: now), remaining: record.freshness.remaining(at: now), terms: record.terms,
            cache: report, timings: timings, originFields: record.response.fields)
    }
}

extension Wanted {
    /// Whether the origin may be asked for the sake of this request.
    fileprivate var mayAsk: Bool {
        let demand = request.cache.policy
        return demand.mode != .onlyIfCached && !demand.directives.onlyIfCached
    }

    /// Whether the client takes what is in the caches at all.
    fileprivate var mayUseStale: Bool {
        let mode = request.cache.policy.mode
        return mode != .reload && mode != .noStore
    }

    func question(known: SourceRecord?, _ reason: CacheStatus.Reason) -> AskOrigin.Question {
        switch request.cache.policy.mode {
        case .reload, .noStore: .contentPastCaches
        default: known == nil || reason == .varyMiss || reason == .miss ? .content : .whetherChanged
        }
    }
}
