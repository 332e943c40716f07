import DarkroomObjectStorage
import DarkroomStore
import Foundation
import NIOCore
import Synchronization

/// An object store in a dictionary, which can fail, damage objects, and hold back single operations.
final class MemoryBucket: ObjectBucket {
    enum Operation: Hashable { case read, write, delete, list }

    /// Decides whether an operation on a key, or on a prefix, fails.
    typealias Fault = @Sendable (Operation, String) -> ObjectStorageError?

    let operations = Watched<[Operation: Int]>([:])
    private let objects = Watched<[String: ByteBuffer]>([:])
    private let fault = Mutex<Fault?>(nil)
    private let latency = Mutex<(time: Duration, pass: @Sendable (Duration) -> Void)?>(nil)
    private let held = Mutex<[(operation: Operation, isMeant: @Sendable (String) -> Bool, gate: Gate)]>([])

    var clockOffset: TimeInterval { 0 }

    var names: [String] { objects.value.keys.sorted() }

    subscript(name: String) -> ByteBuffer? {
        get { objects.value[name] }
        set { objects.change { $0[name] = newValue } }
    }

    /// Returns once the names fulfill the condition.
    func waitForNames(_ condition: @escaping @Sendable (any Collection<String>) -> Bool) async {
        await objects.wait { condition($0.keys) }
    }

    func count(of operation: Operation) -> Int { operations.value[operation] ?? 0 }

    /// Makes operations fail from now on; nil = no more.
    func fail(_ fault: Fault?) { self.fault.withLock { $0 = fault } }

    /// Makes each operation take this time from now on, or fail at its limit if that is shorter.
    ///
    /// - Parameter pass: lets the time pass.
    func delay(_ time: Duration, _ pass: @escaping @Sendable (Duration) -> Void) {
        latency.withLock { $0 = (time, pass) }
    }

    /// Holds back the next write or deletion of such a name before it takes effect, or the result of reading such a
    /// name or listing such a prefix.
    func hold(_ operation: Operation, at gate: Gate, where isMeant: @escaping @Sendable (String) -> Bool) {
        held.withLock { $0.append((operation, isMeant, gate)) }
    }

    func read(
        _ key: String, maxBytes: Int, within limit: Duration,
        deliver: @escaping @Sendable (ByteBuffer) throws(ObjectStorageError) -> Void
    ) async throws(ObjectStorageError) -> Bool {
        try begin(.read, key, limit)
        let found = objects.value[key]
        await pass(.read, [key])
        guard var object = found else { return false }
        // In parts that do not respect the object's structure.
        while let part = object.readSlice(length: min(object.readableBytes, 37)), part.readableBytes > 0 {
            try deliver(part)
        }
        return true
    }

    func write(_ key: String, _ body: ByteBuffer, within limit: Duration) async throws(ObjectStorageError) {
        try begin(.write, key, limit)
        await pass(.write, [key])
        objects.change { $0[key] = body }
    }

    func delete(_ keys: [String], within limit: Duration) async throws(ObjectStorageError) {
        for key in keys { try begin(.delete, key, limit) }
        await pass(.delete, keys)
        objects.change { for key in keys { $0[key] = nil } }
    }

    func list(
        _ prefix: String, after: String?, maxKeys: Int, within limit: Duration
    ) async throws(ObjectStorageError) -> [String] {
        try begin(.list, prefix, limit)
        let found = Array(names.filter { $0.hasPrefix(prefix) && $0 > after ?? "" }.prefix(maxKeys))
        guard await pass(.list, [prefix]) else { throw .canceled }
        return found
    }

    /// - Returns: false if the task was canceled while a gate held it back.
    @discardableResult
    private func pass(_ operation: Operation, _ keys: [String]) async -> Bool {
        let gate = held.withLock { held -> Gate? in
            let index = held.firstIndex { $0.operation == operation && keys.contains(where: $0.isMeant) }
            return index.map { held.remove(at: $0).gate }
        }
        return await gate?.pass() ?? true
    }

    private func begin(_ operation: Operation, _ key: String, _ limit: Duration) throws(ObjectStorageError) {
        operations.change { $0[operation, default: 0] += 1 }
        if let error = fault.withLock(\.self)?(operation, key) { throw error }
        guard let latency = latency.withLock(\.self) else { return }
        latency.pass(min(latency.time, limit))
        if limit < latency.time { throw .timedOut(.response) }
    }
}
