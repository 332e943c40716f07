/// Runs `work` and cancels it when `limit` has passed, whatever it is waiting for then.
///
/// - Throws: what `work` throws, or ``OriginError/timedOut``. `work` must answer cancellation at once, for this
///   function returns only after it has ended.
func within<Value: Sendable>(
    _ limit: Duration, clock: any Clock<Duration>,
    _ work: @escaping @Sendable () async throws(OriginError) -> Value
) async throws(OriginError) -> Value {
    let outcome = await withTaskGroup { group in
        group.addTask { () async -> Result<Value, OriginError>? in
            do throws(OriginError) { return .success(try await work()) } catch { return .failure(error) }
        }
        group.addTask { () async -> Result<Value, OriginError>? in
            // A sleep that throws was cancelled: either the work is done or our caller gave up, and the work says so.
            do { try await clock.sleep(for: limit) } catch { return nil }
            return .failure(.timedOut)
        }
        defer { group.cancelAll() }
        for await outcome in group {
            if let outcome { return outcome }
        }
        return .failure(.cancelled)
    }
    return try outcome.get()
}
