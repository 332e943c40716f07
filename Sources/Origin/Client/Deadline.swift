import Synchronization

/// Runs `operation` and cancels it once `limit` has passed.
///
/// The function returns only after `operation` has ended, so that nothing it started outlives the call: the operation
/// must respond to cancellation promptly.
///
/// - Parameters:
///   - clock: measures `limit`.
///   - onExpiry: called when the limit has passed and before `operation` is cancelled; returns the error to throw.
/// - Throws: what `operation` throws, or what `onExpiry` returns.
package func withDeadline<Value: Sendable, Failure: Error>(
    _ limit: Duration, clock: any Clock<Duration>, onExpiry: @escaping @Sendable () -> Failure,
    _ operation: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    let outcome = await withTaskGroup { group in
        group.addTask { () async -> Result<Value, Failure>? in
            do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
        }
        group.addTask { () async -> Result<Value, Failure>? in
            // A canceled sleep means that the operation has ended or that the caller gave up; the operation says which.
            do { try await clock.sleep(for: limit) } catch { return nil }
            return .failure(onExpiry())
        }
        defer { group.cancelAll() }
        for await outcome in group {
            if let outcome { return outcome }
        }
        // Unreachable: the operation's own task always returns an outcome.
        return .failure(onExpiry())
    }
    return try outcome.get()
}

/// The phase that a download is in, so that a deadline's error can name it.
final class DownloadProgress: Sendable {
    private struct State {
        var phase = OriginError.Phase.waiting
        var hasExpired = false
    }

    private let state = Mutex(State())

    /// Enters the next phase. The phase no longer changes once the deadline has passed.
    func enter(_ phase: OriginError.Phase) {
        state.withLock { if !$0.hasExpired { $0.phase = phase } }
    }

    /// Records that the deadline has passed and returns the error that says in which phase.
    func expire() -> OriginError {
        state.withLock {
            $0.hasExpired = true
            return .timedOut($0.phase)
        }
    }

    /// The error itself, or the timeout if that is why the download was canceled.
    func cause(of error: OriginError) -> OriginError {
        state.withLock { error == .cancelled && $0.hasExpired ? .timedOut($0.phase) : error }
    }
}
