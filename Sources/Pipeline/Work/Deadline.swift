/// Gives up on an operation after a time: its task is cancelled, and the caller learns why.
func withDeadline<Value: Sendable>(
    _ timeout: Duration, clock: any Clock<Duration>,
    _ operation: @escaping @Sendable () async throws(PipelineError) -> Value
) async throws(PipelineError) -> Value {
    let outcome = await withTaskGroup(of: Result<Value, PipelineError>?.self) { group in
        group.addTask {
            await Result(catching: operation)
        }
        group.addTask {
            do {
                try await clock.sleep(for: timeout)
                return .failure(.timedOut)
            } catch {
                return nil
            }
        }
        var first: Result<Value, PipelineError>?
        while first == nil, let next = await group.next() { first = next }
        group.cancelAll()
        return first ?? .failure(.cancelled)
    }
    return try outcome.get()
}

extension Result where Failure == PipelineError, Success: Sendable {
    init(catching operation: () async throws(PipelineError) -> Success) async {
        do throws(PipelineError) {
            self = .success(try await operation())
        } catch {
            self = .failure(error)
        }
    }
}
