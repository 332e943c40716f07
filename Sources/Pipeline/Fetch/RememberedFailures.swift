import DarkroomCache
import Foundation

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
