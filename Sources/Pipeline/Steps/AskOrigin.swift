import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomStore
import Foundation
import HTTPTypes
import NIOCore

/// Asks a source's origin: for its bytes, or whether those that are known are still right.
struct AskOrigin: Sendable {
    let origin: any OriginFetching
    let delegate: any ImagePipelineDelegate
    let policy: FreshnessPolicy
    let keep: KeepResults
    let failures: FailureMemory
    let now: @Sendable () -> Date

    /// What the origin is asked.
    enum Question: Hashable, Sendable {
        /// Send it, unless it is what we know.
        case whetherChanged
        /// Send it.
        case content
        /// Send it, and let no cache on the way answer (the Fetch standard's `reload` and `no-store`).
        case contentPastCaches
    }

    /// Hears of a download.
    typealias Report = @Sendable (PartialOriginal) -> Void

    struct Answer: Sendable {
        let record: SourceRecord
        /// Nil where the known content is still right.
        let original: Original?
        let status: Int
        /// Whether this content has decoded well before.
        let isProven: Bool
        /// Whether it is what another request has just learned.
        var isShared = false
    }

    /// - Parameters:
    ///   - known: what the caches have of the source, whether or not it is still fresh.
    ///   - report: told of what has come in so far, and of the whole.
    func callAsFunction(
        _ wanted: Wanted, _ question: Question, known: SourceRecord?, urgency: Urgency, report: @escaping Report
    ) async throws(PipelineError) -> Answer {
        let evidence = failures.undecodable(of: wanted, now: now())
        let asked = question == .whetherChanged ? evidence?.record ?? known : evidence?.record
        let askedAt = ContinuousClock.now
        let response = try await fetch(wanted, question, asked, known: known, urgency, report)
        if response.isNotModified {
            guard let asked, asked.response.isConfirmed(by: response.headers) else {
                // It speaks of something else than what we know.
                guard question != .contentPastCaches else {
                    throw .originFailed(
                        OriginFailure("The origin did not send the picture.", proxyError: .httpProtocolError))
                }
                return try await self(wanted, .contentPastCaches, known: known, urgency: urgency, report: report)
            }
            let record = asked.freshened(by: response, askedAt: askedAt, policy: policy)
            if record.response.refusal(policy) != nil, question != .contentPastCaches {
                // What we have may not be kept any longer, not even for when the origin fails.
                await keep.forget(wanted.keys.source)
                return try await self(
                    wanted, .contentPastCaches, known: known ?? asked, urgency: urgency, report: report)
            }
            try refuse(evidence, now: record, wanted)
            if record.isProven { await keep.keep(record, wanted) }
            return Answer(record: record, original: nil, status: 304, isProven: true)
        }
        guard let accepted = await delegate.accept(response, for: wanted.request) else {
            throw .originFailed(OriginFailure("The origin's answer was refused by this server's rules."))
        }
        let kept = await delegate.willCacheResponse(accepted, for: wanted.request)
        let content = kept ?? accepted
        let record = SourceRecord(
            of: content, asked: wanted.request.source, at: askedAt,
            content: StoreKey(hashing: content.body.readableBytesView), policy: policy)
        let mayBeStored = kept != nil && record.response.refusal(policy) == nil
        if evidence?.record.content == record.content { try refuse(evidence, now: record, wanted) }
        return await answer(
            wanted,
            Original(
                body: content.body, record: record, layer: nil, mayBeStored: mayBeStored,
                replacesKnown: known.map { $0.content != record.content } ?? false, hold: response.reservation),
            known: known)
    }

    /// The origin still has what could not be decoded.
    private func refuse(
        _ evidence: UndecodableContent?, now record: SourceRecord, _ wanted: Wanted
    ) throws(PipelineError) {
        guard let evidence else { return }
        failures.note(undecodable: evidence.with(record), of: wanted, now: now())
        throw failures.current(of: wanted, now: now()) ?? evidence.error
    }

    private func answer(_ wanted: Wanted, _ original: Original, known: SourceRecord?) async -> Answer {
        let isProven = known.map { $0.isProven && $0.content == original.record.content } ?? false
        if isProven { original.record.prove() }
        let tiers = wanted.request.cache.store.any
        if isProven, original.mayBeStored {
            _ = original.claimRecord(tiers)
            await keep.keep(original.record, wanted)
        } else if !original.mayBeStored, !tiers.isEmpty {
            // What may not be kept has taken the place of what was, or is about to be kept by an earlier question.
            if known == nil {
                keep.generations.advance(wanted.keys.source)
            } else {
                await keep.forget(wanted.keys.source)
            }
        }
        if keep.accepts(original.record, wanted) { keep.inUse.note(original, for: wanted.keys.source) }
        if !keep.isCurrent(wanted) { keep.inUse.forget([wanted.keys.source]) }
        return Answer(record: original.record, original: original, status: 200, isProven: isProven)
    }

    private func fetch(
        _ wanted: Wanted, _ question: Question, _ asked: SourceRecord?, known: SourceRecord?, _ urgency: Urgency,
        _ report: @escaping Report
    ) async throws(PipelineError) -> OriginResponse {
        guard await delegate.shouldDownload(wanted.request.source) else {
            throw .notDownloadable
        }
        let fields = await delegate.originFields(question.fields, for: wanted.request.source)
        var request = OriginRequest(url: wanted.request.source, headers: fields) { urgency.level.atOrigin }
        if question != .contentPastCaches, let asked {
            request.validators = asked.response.validators
            request.validatedURL = asked.answeredURL
        }
        request.onProgress = report
        request.client = urgency.clients.first ?? ""
        do throws(OriginError) {
            let response = try await origin.fetch(request)
            failures.noteAnswer(of: wanted)
            if !response.isNotModified { report(response.whole) }
            return response
        } catch {
            throw await failed(error, wanted, isKnown: known != nil)
        }
    }

    private func failed(_ error: OriginError, _ wanted: Wanted, isKnown: Bool) async -> PipelineError {
        let failure = PipelineError(error)
        if failure == .cancelled { return failure }
        let retention = error.retention(now: now())
        let isBlocked = await delegate.shouldBlockFailedURL(wanted.request.source, error: failure)
        // A purge since then forgets this failure too.
        if keep.isCurrent(wanted) {
            failures.note(failure, isBlocked ? .blocked : retention, of: wanted, now: now())
        }
        if case .gone = retention, isKnown, !wanted.request.cache.store.any.isEmpty {
            await keep.forget(wanted.keys.source)
        }
        return failure
    }
}

extension AskOrigin.Question {
    fileprivate var fields: HTTPFields {
        switch self {
        case .whetherChanged, .content: [:]
        case .contentPastCaches: [.cacheControl: "no-cache", .pragma: "no-cache"]
        }
    }
}

extension OriginResponse {
    /// The end of what is reported of it: fetchers need not come in pieces.
    fileprivate var whole: PartialOriginal { PartialOriginal(body: body, expectedBytes: body.readableBytes) }
}

extension HTTPField.Name {
    fileprivate static let pragma = HTTPField.Name("Pragma") ?? .cacheControl
}

extension Priority {
    fileprivate var atOrigin: OriginRequest.Priority {
        switch self {
        case .background: .background
        case .low: .low
        case .normal: .normal
        case .high: .high
        }
    }
}
