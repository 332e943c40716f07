import DarkroomOrigin
import Synchronization

/// Reports downloads in progress to all requests that share them, whichever request started them.
final class DownloadBroadcaster<Key: Hashable & Sendable>: Sendable {
    /// Receives what has arrived so far, and the number of the download; called on any thread.
    typealias Subscriber = @Sendable (PartialOriginal, _ download: Int) -> Void

    private struct State {
        var subscribers: [Key: [Int: Subscriber]] = [:]
        /// Each key's current download. A download that is being canceled is no longer reported.
        var current: [Key: Int] = [:]
        var lastNumber = 0

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())

    /// The number of downloads and subscribers.
    var count: Int { state.withLock { $0.subscribers.values.reduce($0.current.count) { $0 + $1.count } } }

    /// Reports the key's downloads to `subscriber` from now on.
    ///
    /// - Returns: the number to unsubscribe with.
    func subscribe(to key: Key, _ subscriber: @escaping Subscriber) -> Int {
        state.withLock { state in
            let number = state.nextNumber()
            state.subscribers[key, default: [:]][number] = subscriber
            return number
        }
    }

    func unsubscribe(_ number: Int, from key: Key) {
        state.withLock { state in
            state.subscribers[key]?[number] = nil
            if state.subscribers[key]?.isEmpty == true { state.subscribers[key] = nil }
        }
    }

    /// Runs a download, which reports its progress to the function that it is passed.
    func run<Value>(
        _ key: Key,
        _ download: (@escaping @Sendable (PartialOriginal) -> Void) async throws(PipelineError) -> Value
    ) async throws(PipelineError) -> Value {
        let number = state.withLock { state in
            let number = state.nextNumber()
            state.current[key] = number
            return number
        }
        defer { state.withLock { if $0.current[key] == number { $0.current[key] = nil } } }
        return try await download { [self] in report($0, of: key, number) }
    }

    private func report(_ partial: PartialOriginal, of key: Key, _ number: Int) {
        let subscribers = state.withLock { state in
            state.current[key] == number ? state.subscribers[key].map { Array($0.values) } ?? [] : []
        }
        for subscriber in subscribers { subscriber(partial, number) }
    }
}
