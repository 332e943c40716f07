import Synchronization

/// The phase that a download is in, so that its deadline's error can name it.
final class DownloadProgress: Sendable {
    private struct State {
        var phase = OriginError.Phase.waiting
        var hasExpired = false
    }

    let deadline = Deadline()
    private let state = Mutex(State())

    /// Enters the next phase. The phase no longer changes once the deadline has passed.
    func enter(_ phase: OriginError.Phase) {
        state.withLock { if !$0.hasExpired { $0.phase = phase } }
    }

    /// Records that the deadline has passed, and ends the wait of the download.
    func expire() {
        state.withLock { $0.hasExpired = true }
        deadline.pass()
    }

    /// The error itself, or the timeout if that is why the download was canceled.
    func cause(of error: OriginError) -> OriginError {
        state.withLock { error == .cancelled && $0.hasExpired ? .timedOut($0.phase) : error }
    }
}
