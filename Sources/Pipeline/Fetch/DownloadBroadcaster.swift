import DarkroomOrigin
import Synchronization

/// Who hears of the downloads under way: all whose requests share one, whoever began it.
final class Transfers<Key: Hashable & Sendable>: Sendable {
    /// Hears of what has come in, and of which download; called on any thread.
    typealias Listener = @Sendable (PartialOriginal, _ transfer: Int) -> Void

    private struct State {
        var listeners: [Key: [Int: Listener]] = [:]
        /// The download of each key at this moment: of one that is being torn down nobody hears any more.
        var current: [Key: Int] = [:]
        var lastNumber = 0

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())

    /// Downloads and listeners that are known at this moment.
    var count: Int { state.withLock { $0.listeners.values.reduce($0.current.count) { $0 + $1.count } } }

    /// From now on `listener` hears of the downloads of `key`.
    /// - Returns: what `leave` is to be given.
    func listen(to key: Key, _ listener: @escaping Listener) -> Int {
        state.withLock { state in
            let number = state.nextNumber()
            state.listeners[key, default: [:]][number] = listener
            return number
        }
    }

    func leave(_ key: Key, _ number: Int) {
        state.withLock { state in
            state.listeners[key]?[number] = nil
            if state.listeners[key]?.isEmpty == true { state.listeners[key] = nil }
        }
    }

    /// Runs a download, handed what it is to report to.
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
        let listeners = state.withLock { state in
            state.current[key] == number ? state.listeners[key].map { Array($0.values) } ?? [] : []
        }
        for listener in listeners { listener(partial, number) }
    }
}
