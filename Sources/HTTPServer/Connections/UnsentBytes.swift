import NIOCore
import Synchronization

/// The response bodies that wait in memory for slow clients, over all listeners, within a budget.
///
/// A body that several responses share, as from the memory cache, counts once. A response whose bytes the
/// kernel takes at once is never counted, so that most responses do not touch the lock.
///
/// Over the budget, the client with the most bytes loses the response that it reads most slowly. That serves others
/// better than to refuse their requests: a client that reads as fast as its line allows is the last to be cut off.
package final class UnsentBytes: Sendable {
    /// A body or a part of one, identified by its memory.
    struct Buffer: Hashable, Sendable {
        private let address: UInt
        let count: Int

        init(_ buffer: ByteBuffer) {
            address = buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
            count = buffer.readableBytes
        }
    }

    /// A connection whose client reads a response.
    final class Reader: Sendable {
        /// The client's name; nil for one that shares its address with other clients, as behind a proxy.
        fileprivate let client: String?
        fileprivate let end: @Sendable () -> Void

        /// - Parameter end: closes the connection; called at most once, on any thread.
        init(client: String?, end: @escaping @Sendable () -> Void) {
            (self.client, self.end) = (client, end)
        }
    }

    private let state: Mutex<State>

    /// - Parameter budgetBytes: the bytes of all clients. One client may have half of them, unless it reads a single
    ///   response.
    package init(budgetBytes: Int = .max) {
        state = Mutex(State(budgetBytes: budgetBytes))
    }

    /// The bytes that wait.
    package var bytes: Int { state.withLock(\.total.bytes) }

    /// Replaces the buffers that wait for a reader, who is out of time at the deadline. Ends other readers, or this
    /// one, while the budget is exceeded.
    func update(_ reader: Reader, holding buffers: [Buffer], until deadline: NIODeadline) {
        let ended = state.withLock { state in
            state.remove(reader)
            if !buffers.isEmpty { state.add(State.Entry(reader: reader, buffers: buffers, deadline: deadline)) }
            return state.isExceeded(by: reader) ? state.removeExcess() : []
        }
        for reader in ended { reader.end() }
    }

    /// Removes a reader for whom nothing waits anymore.
    func remove(_ reader: Reader) {
        state.withLock { $0.remove(reader) }
    }
}

private struct State {
    struct Entry {
        let reader: UnsentBytes.Reader
        let buffers: [UnsentBytes.Buffer]
        let deadline: NIODeadline
    }

    struct Holdings {
        private(set) var bytes = 0
        private var holders: [UnsentBytes.Buffer: Int] = [:]

        mutating func add(_ buffer: UnsentBytes.Buffer) {
            if holders[buffer] == nil { bytes += buffer.count }
            holders[buffer, default: 0] += 1
        }

        mutating func remove(_ buffer: UnsentBytes.Buffer) {
            guard let count = holders[buffer] else { return }
            holders[buffer] = count > 1 ? count - 1 : nil
            if count == 1 { bytes -= buffer.count }
        }
    }

    struct Client {
        var holdings = Holdings()
        var readers: [ObjectIdentifier: Entry] = [:]
    }

    /// A reader without a client's name is a client of its own.
    enum Name: Hashable {
        case client(String)
        case reader(ObjectIdentifier)

        init(_ reader: UnsentBytes.Reader) {
            self = reader.client.map { .client($0) } ?? .reader(ObjectIdentifier(reader))
        }
    }

    let budgetBytes: Int
    private(set) var total = Holdings()
    private var clients: [Name: Client] = [:]

    init(budgetBytes: Int) {
        self.budgetBytes = budgetBytes
    }

    mutating func add(_ entry: Entry) {
        let name = Name(entry.reader)
        for buffer in entry.buffers {
            total.add(buffer)
            clients[name, default: Client()].holdings.add(buffer)
        }
        clients[name]?.readers[ObjectIdentifier(entry.reader)] = entry
    }

    mutating func remove(_ reader: UnsentBytes.Reader) {
        let name = Name(reader)
        guard let entry = clients[name]?.readers.removeValue(forKey: ObjectIdentifier(reader)) else { return }
        for buffer in entry.buffers {
            total.remove(buffer)
            clients[name]?.holdings.remove(buffer)
        }
        if clients[name]?.readers.isEmpty == true { clients[name] = nil }
    }

    /// Whether the total, or the part of the reader's client, is beyond the budget.
    func isExceeded(by reader: UnsentBytes.Reader) -> Bool {
        total.bytes > budgetBytes || (clients[Name(reader)]?.holdings.bytes ?? 0) > budgetBytes / 2
    }

    /// Removes readers until the rest is within the budget. The last reader stays: a response may exceed the budget.
    mutating func removeExcess() -> [UnsentBytes.Reader] {
        var removed: [UnsentBytes.Reader] = []
        while let client = clients.values.max(by: { $0.holdings.bytes < $1.holdings.bytes }),
            total.bytes > budgetBytes && clients.count > 1
                || client.holdings.bytes > budgetBytes / 2 && client.readers.count > 1,
            let slowest = client.readers.values.min(by: { $0.deadline < $1.deadline })
        {
            remove(slowest.reader)
            removed.append(slowest.reader)
        }
        return removed
    }
}
