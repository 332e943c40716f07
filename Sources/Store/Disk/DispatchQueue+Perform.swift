import Dispatch

extension DispatchQueue {
    /// Runs blocking work on this queue while the caller is suspended.
    func perform<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            async { continuation.resume(returning: work()) }
        }
    }
}
