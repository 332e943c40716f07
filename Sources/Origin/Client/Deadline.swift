import Synchronization

/// Runs `work` and cancels it when `limit` has passed, whatever it is waiting for then.
///
/// - Parameter expire: called when the limit has passed and before `work` is cancelled; says what to throw.
/// - Throws: what `work` throws, or what `expire` gives. `work` must answer cancellation at once, for this function
///   returns only after it has ended.
func within<Value: Sendable>(
    _ limit: Duration, clock: any Clock<Duration>, expire: @escaping @Sendable () -> OriginError,
    _ work: @escaping @Sendable () async throws(OriginError) -> Value
) async throws(OriginError) -> Value {
    let outcome = await withTaskGroup { group in
        group.addTask { () async -> Result<Value, OriginError>? in
            do throws(OriginError) { return .success(try await work()) } catch { return .failure(error) }
        }
        group.addTask { () async -> Result<Value, OriginError>? in
            // A sleep that throws was cancelled: either the work is done or our caller gave up, and the work says so.
            do { try await clock.sleep(for: limit) } catch { return nil }
            return .failure(expire())
        }
        defer { group.cancelAll() }
        for await outcome in group {
            if let outcome { return outcome }
        }
        return .failure(.cancelled)
    }
    return try outcome.get()
}

/// What a download is at, so that the error of its deadline can name it.
final class DownloadProgress: Sendable {
    private struct State {
        var phase = OriginError.Phase.waiting
        var hasExpired = false
    }

    private let state = Mutex(State())

    /// The next phase begins. Once time is up the phase stays what it was then.
    func enter(_ phase: OriginError.Phase) {
        state.withLock { if !$0.hasExpired { $0.phase = phase } }
    }

    /// Time is up.
    func expire() -> OriginError {
        state.withLock {
            $0.hasExpired = true
            return .timedOut($0.phase)
        }
    }

    /// The error itself, or the time limit where that was why the download was cancelled.
    func cause(of error: OriginError) -> OriginError {
        state.withLock { error == .cancelled && $0.hasExpired ? .timedOut($0.phase) : error }
    }
}
