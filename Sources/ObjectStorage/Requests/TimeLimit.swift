import Synchronization

/// The phase that an operation is in, so that its timeout can name it.
final class OperationProgress: Sendable {
    private struct State {
        var phase = ObjectStorageError.Phase.credentials
        var hasExpired = false
    }

    private let state = Mutex(State())

    /// Enters the next phase. The phase no longer changes once the time limit has passed.
    func enter(_ phase: ObjectStorageError.Phase) {
        state.withLock { if !$0.hasExpired { $0.phase = phase } }
    }

    fileprivate func expire() { state.withLock { $0.hasExpired = true } }

    /// The phase in which the time limit passed.
    fileprivate var expiredPhase: ObjectStorageError.Phase? {
        state.withLock { $0.hasExpired ? $0.phase : nil }
    }
}

/// Runs an operation in a task of its own, which is canceled once the limit has passed or our task is canceled.
///
/// The function returns only after the operation has ended, so that nothing it started outlives the call: the operation
/// must respond to cancellation promptly.
func withTimeLimit<Value: Sendable>(
    _ limit: Duration, clock: any Clock<Duration>,
    _ operation: @escaping @Sendable (OperationProgress) async throws(ObjectStorageError) -> Value
) async throws(ObjectStorageError) -> Value {
    let progress = OperationProgress()
    let work = Task { () async -> Result<Value, ObjectStorageError> in
        do throws(ObjectStorageError) { return .success(try await operation(progress)) } catch {
            return .failure(error)
        }
    }
    let timer = Task {
        do { try await clock.sleep(for: limit) } catch { return }
        progress.expire()
        work.cancel()
    }
    defer { timer.cancel() }
    let result = await withTaskCancellationHandler {
        await work.value
    } onCancel: {
        work.cancel()
    }
    if case .failure(.canceled) = result, let phase = progress.expiredPhase { throw .timedOut(phase) }
    return try result.get()
}

extension Clock where Duration == Swift.Duration {
    /// Measures the time from this call on.
    func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
