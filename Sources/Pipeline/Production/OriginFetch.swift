import DarkroomCache
import DarkroomHTTPCaching
import DarkroomMachine
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import DarkroomWaiting
import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import Tracing

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

/// One request to a source's origin: for its bytes, or for a confirmation of the known bytes.
struct OriginFetch: Sendable {
    let origin: any OriginFetching
    let delegate: any ImagePipelineDelegate
    let policy: FreshnessPolicy
    let cache: ImageCache
    let now: @Sendable () -> Date

    /// The kind of request.
    enum Mode: Hashable, Sendable {
        /// Asks for the content unless the known content is still current (RFC 9111 §4.3.1).
        case conditional
        /// Asks for the content.
        case unconditional
        /// Asks for the content past all caches on the way (the Fetch standard's `reload` and `no-store`).
        case reload
    }

    /// Receives the progress of a download.
    typealias Report = @Sendable (PartialOriginal) -> Void

    struct Answer: Sendable {
        let record: SourceRecord
        /// The content; nil if the known content was confirmed.
        let original: Original?
        let status: Int
        /// Whether the content is known to decode.
        let isVerified: Bool
        /// Whether another request's fetch brought it.
        var isShared = false
    }

    /// Whether the record's `Vary` matches the fields that the origin would be sent now (RFC 9111 §4.1).
    func isSelected(_ record: SourceRecord?, for request: ResolvedRequest) async -> Bool {
        guard let record, record.varies else { return true }
        let fields = await delegate.originFields([:], for: request.source)
        return record.response.isSelected(
            bySending: origin.sentFields(for: OriginRequest(url: request.source, headers: fields)))
    }

    /// Why the origin may not be contacted, as far as that is known without resolving a name; nil if it may.
    func refusal(of request: ResolvedRequest) async -> PipelineError? {
        guard await delegate.shouldDownload(request.source) else { return .notDownloadable }
        return origin.refusal(of: request.source).map { PipelineError($0) }
    }

    /// Contacts the origin, and stores or removes entries according to its answer.
    ///
    /// - Parameters:
    ///   - known: the known record of the source, fresh or not.
    ///   - report: receives the bytes so far, and finally the whole original.
    func send(
        _ request: ResolvedRequest, _ mode: Mode, known: SourceRecord?, urgency: Urgency, report: @escaping Report
    ) async throws(PipelineError) -> Answer {
        let undecodable = cache.failures.undecodable(of: request.access, now: now())
        let validated = mode == .conditional ? undecodable?.record ?? known : undecodable?.record
        let sentAt = ContinuousClock.now
        let response = try await exchange(request, mode, validated, known: known, urgency, report)
        guard response.isNotModified else {
            return try await accept(response, for: request, known: known, undecodable, sentAt: sentAt)
        }
        guard let validated, validated.response.isConfirmed(by: response.headers) else {
            // The 304 confirms other content than the known content.
            guard mode != .reload else {
                throw .originFailed(OriginFailure("The origin did not send the image.", proxyError: .httpProtocolError))
            }
            return try await send(request, .reload, known: known, urgency: urgency, report: report)
        }
        // The same content, freshened by the 304 (RFC 9111 §4.3.4).
        let freshened = validated.response.freshened(
            by: response.headers, sent: response.sentFields, requestedAt: response.requestedAt,
            receivedAt: response.receivedAt)
        let record = validated.with(
            freshened, requestedAt: sentAt, leastOrder: validated.nextOrder, leastDate: validated.nextDate,
            policy: policy)
        if !record.response.mayBeStored(policy), mode != .reload {
            // The known content may no longer be stored, not even for use while the origin fails.
            await cache.remove(request.keys.source)
            return try await send(request, .reload, known: known ?? validated, urgency: urgency, report: report)
        }
        try refuse(undecodable, now: record, request)
        if record.isVerified { await cache.store(record, for: request.access) }
        return Answer(record: record, original: nil, status: 304, isVerified: true)
    }

    /// Uses a response with content, as far as the delegate and the caching rules permit.
    private func accept(
        _ response: OriginResponse, for request: ResolvedRequest, known: SourceRecord?,
        _ undecodable: UndecodableContent?, sentAt: ContinuousClock.Instant
    ) async throws(PipelineError) -> Answer {
        guard let accepted = await delegate.accept(response, for: request.input) else {
            throw .originFailed(OriginFailure("This server's rules rejected the origin's response."))
        }
        let cacheable = await delegate.willCacheResponse(accepted, for: request.input)
        let content = cacheable ?? accepted
        let digest = StoreKey(of: content.content)
        let isVerified = known.map { $0.isVerified && $0.content == digest } ?? false
        let record = SourceRecord(
            url: request.source.canonical, host: request.source.hostName, answeredURL: content.url.canonical,
            response: StoredResponse(
                status: content.status.code, fields: content.headers, sent: content.sentFields,
                requestedAt: content.requestedAt, receivedAt: content.receivedAt),
            content: digest, policy: policy, requestedAt: sentAt,
            leastOrder: known?.nextOrder ?? 0, leastDate: known?.nextDate ?? .distantPast, isVerified: isVerified)
        if undecodable?.record.content == record.content { try refuse(undecodable, now: record, request) }
        let original = Original(
            body: content.content, record: record, tier: nil,
            mayBeStored: cacheable != nil && record.response.mayBeStored(policy),
            replacesKnown: known.map { $0.content != record.content } ?? false, hold: response.reservation)
        await cache.receive(original, isKnown: known != nil, for: request.access)
        return Answer(record: record, original: original, status: accepted.status.code, isVerified: isVerified)
    }

    /// Fails the request if the origin still has content that could not be decoded.
    private func refuse(
        _ undecodable: UndecodableContent?, now record: SourceRecord, _ request: ResolvedRequest
    ) throws(PipelineError) {
        guard var undecodable else { return }
        undecodable.record = record
        cache.failures.record(undecodable, of: request.access, now: now())
        throw cache.failures.current(of: request, now: now()) ?? undecodable.decodingError
    }

    // MARK: Exchange

    private func exchange(
        _ request: ResolvedRequest, _ mode: Mode, _ validated: SourceRecord?, known: SourceRecord?,
        _ urgency: Urgency, _ report: @escaping Report
    ) async throws(PipelineError) -> OriginResponse {
        if let data = request.input.data { return data.response(at: now()) }
        guard await delegate.shouldDownload(request.source) else { throw .notDownloadable }
        let own: HTTPFields = mode == .reload ? [.cacheControl: "no-cache", .pragma: "no-cache"] : [:]
        let fields = await delegate.originFields(own, for: request.source)
        var message = OriginRequest(url: request.source, headers: fields) {
            OriginRequest.Priority(rawValue: urgency.level.rawValue) ?? .normal
        }
        if mode != .reload, let validated {
            message.validators = validated.response.validators
            message.validatedURL = validated.answeredURL
        }
        message.onProgress = report
        message.clients = { urgency.clients }
        do throws(OriginError) {
            let span = RecordedSpan("download", urgency, kind: .client)
            let response =
                if let span { try await span.fetch(message, from: origin) } else { try await origin.fetch(message) }
            cache.failures.recordSuccess(of: request.keys.source)
            // The final report of a download, since fetchers need not report parts.
            let count = response.content.count
            if !response.isNotModified { report(PartialOriginal(receivedBytes: count, expectedBytes: count)) }
            return response
        } catch {
            throw await record(error, of: request, isKnown: known != nil)
        }
    }

    private func record(_ error: OriginError, of request: ResolvedRequest, isKnown: Bool) async -> PipelineError {
        var failure = PipelineError(error)
        if failure == .cancelled { return failure }
        let retention = error.retention()
        if case .notFound(let status, _) = failure, case .gone(let response?) = retention {
            failure = .notFound(status: status, lifetime: response.clientLifetime(policy))
        }
        let isBlocked = await delegate.shouldBlockFailedURL(request.source, error: failure)
        // A purge in the meantime clears this failure too.
        if cache.isCurrent(request.access, nil) {
            cache.failures.record(failure, isBlocked ? .blocked : retention, of: request.access, now: now())
        }
        if case .gone = retention, isKnown, !request.cache.store.union.isEmpty {
            await cache.remove(request.keys.source)
        }
        return failure
    }
}

extension FailureMemory {
    /// The failure that a request meets without contacting the origin.
    func current(of request: ResolvedRequest, _ mode: LookMode = .use, now: Date) -> PipelineError? {
        current(of: request.access, mode, now: now).map {
            .remembered(
                $0.error as? PipelineError ?? .failed, retryAfterSeconds: $0.seconds, isBeyondHTTP: $0.isBeyondHTTP)
        }
    }

    /// The failure of an earlier attempt to decode a record's content; nil if there was none.
    func decodingFailure(of request: ResolvedRequest, _ record: SourceRecord, now: Date) -> PipelineError? {
        guard let undecodable = undecodable(of: request.access, now: now),
            undecodable.record.content == record.content
        else { return nil }
        return current(of: request, .peek, now: now) ?? undecodable.decodingError
    }
}

extension UndecodableContent {
    var decodingError: PipelineError { error as? PipelineError ?? .failed }
}

/// A span of the current task's trace, by the tracer of the process.
struct RecordedSpan: Sendable {
    let span: any Span
    let tracer: any Tracer

    /// Starts a span, which must be ended.
    ///
    /// Nil if the trace is not recorded, and for background work, which may outlive the request that caused it. Work
    /// that several requests share belongs to the trace of the first request.
    init?(_ name: String, _ urgency: Urgency, kind: SpanKind = .internal) {
        guard urgency.level != .background else { return nil }
        tracer = InstrumentationSystem.tracer
        guard !(tracer is NoOpTracer) else { return nil }
        span = tracer.startSpan(name, ofKind: kind)
        guard span.isRecording else { return nil }
    }

    /// Fetches within the span, which is the parent of the origin's own span, and ends the span. Its attributes leave
    /// out the path and the query of the address, which may contain secrets.
    func fetch(_ request: OriginRequest, from origin: any OriginFetching) async throws(OriginError) -> OriginResponse {
        span.updateAttributes { attributes in
            attributes["url.scheme"] = request.url.scheme.rawValue
            guard let host = request.url.host else { return }
            attributes["http.request.method"] = "GET"
            attributes["server.address"] = host.description
            if let port = request.url.port { attributes["server.port"] = port }
        }
        let result = await ServiceContext.withValue(span.context) {
            await Result { () async throws(OriginError) in try await origin.fetch(request) }
        }
        switch result {
        case .success(let response):
            span.updateAttributes { attributes in
                if response.url.host != nil { attributes["http.response.status_code"] = Int(response.status.code) }
                attributes["http.response.body.size"] = response.content.count
            }
        case .failure(let error):
            switch error {
            case .notFound(let response), .unexpectedStatus(let response):
                span.attributes["http.response.status_code"] = response.status
            default: break
            }
            span.fail(PipelineError(error), message: error.description)
        }
        span.end()
        return try result.get()
    }
}
