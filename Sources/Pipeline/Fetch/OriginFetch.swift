import DarkroomCache
import DarkroomHTTPCaching
import DarkroomMachine
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import Foundation
import HTTPTypes
import NIOCore
import Tracing

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
