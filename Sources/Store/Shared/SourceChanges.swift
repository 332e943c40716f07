import DarkroomObjectStorage
import Synchronization

/// Separates the removal of a source's objects from writes to the source, so that a removal does not delete objects
/// that a write has just put under the same names. Changes begin in the order of the calls; writes may run at the same
/// time.
final class SourceChanges: Sendable {
    enum Change { case write, removal }

    private struct Line {
        var writes = 0
        var isRemoving = false
        var waiting: [(change: Change, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func begin(_ change: Change) -> Bool {
            guard !isRemoving, change == .write || writes == 0 else { return false }
            if change == .write { writes += 1 } else { isRemoving = true }
            return true
        }

        mutating func end(_ change: Change) -> [CheckedContinuation<Void, Never>] {
            if change == .write { writes -= 1 } else { isRemoving = false }
            var begun: [CheckedContinuation<Void, Never>] = []
            while let first = waiting.first, begin(first.change) {
                begun.append(waiting.removeFirst().continuation)
            }
            return begun
        }
    }

    /// Sources that are being changed.
    private let lines = Mutex<[StoreKey: Line]>([:])

    func perform<Value>(
        _ change: Change, _ source: StoreKey, _ body: () async throws(ObjectStorageError) -> Value
    ) async throws(ObjectStorageError) -> Value {
        await begin(change, source)
        defer { end(change, source) }
        return try await body()
    }

    private func begin(_ change: Change, _ source: StoreKey) async {
        await withCheckedContinuation { continuation in
            let isBegun = lines.withLock { lines in
                var line = lines[source] ?? Line()
                let isBegun = line.waiting.isEmpty && line.begin(change)
                if !isBegun { line.waiting.append((change, continuation)) }
                lines[source] = line
                return isBegun
            }
            if isBegun { continuation.resume() }
        }
    }

    private func end(_ change: Change, _ source: StoreKey) {
        let begun = lines.withLock { lines -> [CheckedContinuation<Void, Never>] in
            guard var line = lines[source] else { return [] }
            let begun = line.end(change)
            lines[source] = line.writes > 0 || line.isRemoving ? line : nil
            return begun
        }
        for continuation in begun { continuation.resume() }
    }
}
