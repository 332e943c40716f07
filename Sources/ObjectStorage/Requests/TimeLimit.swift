import DarkroomWaiting

/// The deadline of an operation, with the phase that it is in.
typealias OperationProgress = PhasedDeadline<ObjectStorageError.Phase>

/// Runs an operation in a task of its own, which is canceled once the limit has passed or our task is canceled.
///
/// The function returns only after the operation has ended, so that nothing it started outlives the call: the operation
/// must respond to cancellation promptly.
func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ timer: DeadlineTimer,
    _ operation: @escaping @Sendable (OperationProgress) async throws(ObjectStorageError) -> Value
) async throws(ObjectStorageError) -> Value {
    let progress = OperationProgress(.credentials)
    let number = timer.begin(after: limit, progress.deadline.pass)
    defer { timer.end(number) }
    do throws(ObjectStorageError) {
        return try await progress.deadline.run { () async throws(ObjectStorageError) in try await operation(progress) }
    } catch {
        if error == .canceled, let phase = progress.phaseWhenPassed { throw .timedOut(phase) }
        throw error
    }
}
