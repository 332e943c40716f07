import DarkroomCache
import DarkroomHTTPCaching
import DarkroomStore
import Foundation

/// Fetches from origins, once for all requests that need the same answer at the same time.
struct SharedFetch: Sendable {
    let fetch: OriginFetch
    let queue: WorkQueue
    let previewMaker: PreviewMaker
    let fetches = Coalescer<Key, OriginFetch.Answer>()
    let downloads = DownloadBroadcaster<Key>()

    /// The values that must be equal for requests to share a fetch.
    struct Key: Hashable, Sendable {
        let source: StoreKey
        let mode: OriginFetch.Mode
        /// No request joins a fetch that started before a purge.
        let epoch: PurgeEpoch
    }

    /// The origin's answer, and whether another request's fetch brought it.
    ///
    /// - Parameter known: the known record of the source, fresh or not.
    func answer(
        to request: ResolvedRequest, _ mode: OriginFetch.Mode, known: SourceRecord?
    ) async throws(PipelineError) -> (OriginFetch.Answer, isShared: Bool) {
        let key = key(of: request, mode)
        // Under overload most requests end here at the latest, before anything is started for them.
        if known == nil, let refusal = refusal(of: request, mode) { throw queue.refuse(refusal) }
        let unsubscribe = subscribe(request, to: key)
        defer { unsubscribe?() }
        let (answer, joined) = try await fetches.value(for: key, urgency: request.urgency, deadline: request.deadline) {
            urgency throws(PipelineError) in
            if let answer = await recentAnswer(to: request, since: known) { return answer }
            let download = { () async throws(PipelineError) in
                try await downloads.run(key) { report throws(PipelineError) in
                    try await fetch.send(request, mode, known: known, urgency: urgency, report: report)
                }
            }
            // If the origin confirms the known content, no pixel work follows.
            guard known == nil else { return try await download() }
            return try await queue.reserving(urgency, download)
        }
        let isShared = joined || answer.isShared
        if isShared { await store(answer, for: request) }
        return (answer, isShared)
    }

    /// Why the work that follows a fetch would be refused now; nil if it would be admitted, or if a fetch is under way.
    func refusal(of request: ResolvedRequest, _ mode: OriginFetch.Mode) -> Admission.Refusal? {
        fetches.waiters(for: key(of: request, mode)) > 0 ? nil : queue.refusal(of: request.urgency)
    }

    private func key(of request: ResolvedRequest, _ mode: OriginFetch.Mode) -> Key {
        Key(source: request.keys.source, mode: mode, epoch: request.epoch)
    }

    /// Reports the key's downloads to the request's task, even those that another request started, until the returned
    /// function is called.
    private func subscribe(_ request: ResolvedRequest, to key: Key) -> (() -> Void)? {
        guard let reporter = request.reporter else { return nil }
        let subscription = downloads.subscribe(to: key) { [previewMaker] partial, download in
            reporter.report(partial, of: download, for: request, previewMaker)
        }
        return {
            downloads.unsubscribe(subscription, from: key)
            reporter.endDownload()
        }
    }

    /// Stores a shared answer, because the request that fetched it may store in fewer tiers than this request.
    private func store(_ answer: OriginFetch.Answer, for request: ResolvedRequest) async {
        guard answer.record.isVerified, answer.original?.mayBeStored != false else { return }
        await fetch.cache.store(answer.record, for: request.access)
    }

    /// The answer that another request received after this request's lookup in the caches.
    private func recentAnswer(
        to request: ResolvedRequest, since known: SourceRecord?
    ) async -> OriginFetch.Answer? {
        guard !request.forcesOrigin else { return nil }
        let access = request.access
        let original = fetch.cache.originalInUse(access)
        guard let record = original?.record ?? fetch.cache.storedRecord(access), record !== known else { return nil }
        let isSelected = await fetch.isSelected(record, for: request)
        let evaluation = CacheEvaluation(
            stored: record.freshness, isSelected: isSelected, policy: request.cache.policy, now: fetch.now())
        guard evaluation.decision == .use else { return nil }
        return OriginFetch.Answer(
            record: record, original: original, status: 200, isVerified: original == nil, isShared: true)
    }
}
