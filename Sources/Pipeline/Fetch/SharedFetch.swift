import DarkroomCache
import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomWaiting
import Foundation
import Synchronization

/// Fetches from origins, once for all requests that need the same answer at the same time.
struct SharedFetch: Sendable {
    let fetch: OriginFetch
    let queue: WorkQueue
    let fetches = SingleFlight<Key, Result<OriginFetch.Answer, PipelineError>, SharedDownload>()

    /// The values that must be equal for requests to share a fetch.
    struct Key: Hashable, Sendable {
        let source: StoreKey
        let mode: OriginFetch.Mode
        /// The content that fails the request if the origin still has it, but not requests for other parts of it.
        let undecodable: StoreKey?
        /// No request joins a fetch that started before a purge.
        let epoch: PurgeEpoch
    }

    /// The origin's answer, given the known record of the source, fresh or not.
    func answer(
        to request: ResolvedRequest, _ mode: OriginFetch.Mode, known: SourceRecord?
    ) async throws(PipelineError) -> OriginFetch.Answer {
        let key = key(of: request, mode)
        // Under overload most requests end here at the latest, before anything is started for them.
        if known == nil, let refusal = refusal(of: request, mode) { throw queue.refuse(refusal) }
        var download: SharedDownload?
        defer { download?.remove(request) }
        let found = await fetches.value(
            for: key, deadline: request.access.deadline,
            traits: {
                let own = SharedDownload(
                    request.urgency.makeDependency(onJoin: fetch.origin.startWaiting), request.access.epoch)
                own.add(request)
                download = own
                return own
            },
            join: { other in
                request.urgency.donate(to: other.urgency)
                other.add(request)
                download = other
            },
            work: { download in
                await Result { () async throws(PipelineError) in try await run(request, mode, known: known, download) }
            })
        guard let found else { throw .cancelled }
        var answer = try found.value.get()
        if found.isShared, let download,
            !fetch.cache.mayShare(answer.record, since: download.epoch, request.access)
        {
            return try await self.answer(to: request, mode, known: known)
        }
        if found.isShared { answer.isShared = true }
        // The request that fetched it may store in fewer tiers than this request.
        if answer.isShared, answer.record.isVerified, answer.original?.mayBeStored != false {
            await fetch.cache.store(answer.record, for: request.access)
        }
        return answer
    }

    private func run(
        _ request: ResolvedRequest, _ mode: OriginFetch.Mode, known: SourceRecord?, _ download: SharedDownload
    ) async throws(PipelineError) -> OriginFetch.Answer {
        if let answer = try await recentAnswer(to: request, since: known) { return answer }
        let send = { () async throws(PipelineError) in
            try await fetch.send(request, mode, known: known, urgency: download.urgency, report: download.report)
        }
        // If the origin confirms the known content, no pixel work follows.
        return known == nil ? try await queue.reserving(download.urgency, send) : try await send()
    }

    /// Why the work that follows a fetch would be refused now; nil if it would be admitted, or if a fetch is under way.
    func refusal(of request: ResolvedRequest, _ mode: OriginFetch.Mode) -> Admission.Refusal? {
        fetches.waiters(for: key(of: request, mode)) > 0 ? nil : queue.refusal(of: request.urgency)
    }

    private func key(of request: ResolvedRequest, _ mode: OriginFetch.Mode) -> Key {
        let undecodable = fetch.cache.failures.undecodable(of: request.access, now: fetch.now())
        return Key(
            source: request.keys.source, mode: mode, undecodable: undecodable?.record.content,
            epoch: request.access.epoch)
    }

    /// The answer that another request received after this request's lookup in the caches.
    private func recentAnswer(
        to request: ResolvedRequest, since known: SourceRecord?
    ) async throws(PipelineError) -> OriginFetch.Answer? {
        guard !request.forcesOrigin else { return nil }
        let access = request.access
        let original = fetch.cache.originalInUse(access)
        guard let record = original?.record ?? fetch.cache.storedRecord(access), record !== known else { return nil }
        let isSelected = await fetch.isSelected(record, for: request)
        let evaluation = CacheEvaluation(
            stored: record.freshness, isSelected: isSelected, policy: request.cache.policy, now: fetch.now())
        guard evaluation.decision == .use else { return nil }
        // A request for another part of the source may be using its original.
        if let failure = fetch.cache.failures.decodingFailure(of: request, record, now: fetch.now()) { throw failure }
        return OriginFetch.Answer(
            record: record, original: original, status: 200, isVerified: original == nil, isShared: true)
    }
}

/// Follows the downloads of a request. Its method is called on any thread, and must return at once.
package protocol DownloadObserver: AnyObject, Sendable {
    /// More of the original was received, of the length that the origin announced; nil if it did not.
    func report(receivedBytes: Int, expectedBytes: Int?)
}

/// A download in progress, which is reported to all requests that share it, whichever request started it.
final class SharedDownload: Sendable {
    let urgency: Urgency
    /// When it started.
    let epoch: PurgeEpoch
    private let observers = Mutex<[any DownloadObserver]>([])

    init(_ urgency: Urgency, _ epoch: PurgeEpoch) {
        self.urgency = urgency
        self.epoch = epoch
    }

    func add(_ request: ResolvedRequest) {
        if let observer = request.observer { observers.withLock { $0.append(observer) } }
    }

    func remove(_ request: ResolvedRequest) {
        guard let observer = request.observer else { return }
        observers.withLock { $0.removeAll { $0 === observer } }
    }

    /// Reports the bytes so far. Called on any thread.
    func report(_ partial: PartialOriginal) {
        for observer in observers.withLock(\.self) {
            observer.report(receivedBytes: partial.receivedBytes, expectedBytes: partial.expectedBytes)
        }
    }
}
