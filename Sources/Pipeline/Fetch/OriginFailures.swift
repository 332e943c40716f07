import DarkroomCache
import DarkroomHTTPCaching
import DarkroomOrigin
import Foundation
import HTTPTypes

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

extension OriginError {
    /// How long a source that failed with this error is not requested again.
    func retention(now: Date) -> FailureRetention {
        switch self {
        case .notFound(let refusal): .gone(StoredResponse(refusal))
        // A request that only waited in a queue of this server says nothing about the source.
        case .localNotFound, .invalidURL, .notAllowed, .loop, .cancelled, .hostUnavailable, .timedOut(.waiting): .never
        case .unexpectedStatus(let refusal):
            .transient(
                // A part is cacheable only by a cache that supports ranges (RFC 9111 §3), and a 304 describes another
                // response.
                [206, 304].contains(refusal.status) ? nil : StoredResponse(refusal),
                retryAfter: refusal.headers.retryAfter(now: now))
        case .tooLarge, .tooManyRedirects, .badRedirect, .unacceptableEncoding, .emptyBody, .unreachable, .timedOut:
            .transient(nil)
        }
    }
}

extension StoredResponse {
    fileprivate init(_ refusal: UnusableResponse) {
        self.init(
            status: refusal.status, fields: refusal.headers, sent: [:], requestedAt: refusal.requestedAt,
            receivedAt: refusal.receivedAt)
    }
}
