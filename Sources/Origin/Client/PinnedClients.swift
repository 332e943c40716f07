import AsyncHTTPClient
import DarkroomNetwork
import NIOCore
import Synchronization

/// HTTP clients that can each reach one host at one vetted address only.
///
/// AsyncHTTPClient has no resolver hook and never removes the pool of a host, so whole clients are pinned and evicted.
/// They share the event loops. A client that is not in use is evicted after `idleLifetime`, checked when a client is
/// requested, or above `capacity`, the least recently used first.
final class PinnedClients: Sendable {
    struct Key: Hashable {
        let host: SourceURL.Host
        let address: IPAddress
    }

    private struct Entry {
        let client: HTTPClient
        var users = 0
        var lastUse: ContinuousClock.Instant
    }

    private struct Table {
        var entries: [Key: Entry] = [:]
        var isShutDown = false
        var nextSweep = ContinuousClock.now
    }

    private let table = Mutex(Table())
    private let capacity: Int
    private let idleLifetime: Duration
    private let makeClient: @Sendable (Key) -> HTTPClient

    init(capacity: Int, idleLifetime: Duration, makeClient: @escaping @Sendable (Key) -> HTTPClient) {
        self.capacity = capacity
        self.idleLifetime = idleLifetime
        self.makeClient = makeClient
    }

    deinit {
        Self.retire(table.withLock { $0.entries.values.map(\.client) })
    }

    /// Runs `body` with the client for `key`, which is not retired before `body` ends, or returns nil after shutdown.
    func withClient<Value>(for key: Key, _ body: (HTTPClient) async -> Value) async -> Value? {
        guard let client = lease(key) else { return nil }
        defer { release(key) }
        return await body(client)
    }

    /// Closes all connections and ends running transfers. No client is available afterward.
    func shutdown() async {
        let clients = table.withLock { table in
            table.isShutDown = true
            defer { table.entries = [:] }
            return table.entries.values.map(\.client)
        }
        for client in clients { try? await client.shutdown() }
    }

    var count: Int { table.withLock { $0.entries.count } }

    private func lease(_ key: Key) -> HTTPClient? {
        let now = ContinuousClock.now
        let (client, retired) = table.withLock { table -> (HTTPClient?, [HTTPClient]) in
            guard !table.isShutDown else { return (nil, []) }
            var entry = table.entries[key] ?? Entry(client: makeClient(key), lastUse: now)
            entry.users += 1
            entry.lastUse = now
            table.entries[key] = entry
            return (entry.client, evict(from: &table, now: now))
        }
        Self.retire(retired)
        return client
    }

    private func release(_ key: Key) {
        table.withLock { table in
            table.entries[key]?.users -= 1
            table.entries[key]?.lastUse = .now
        }
    }

    /// Removes unused clients: clients above the capacity and, once per idle lifetime, clients that were idle too long.
    private func evict(from table: inout Table, now: ContinuousClock.Instant) -> [HTTPClient] {
        let excess = table.entries.count - capacity
        guard excess > 0 || table.nextSweep <= now else { return [] }
        table.nextSweep = now + idleLifetime
        let oldestFirst = table.entries.filter { $0.value.users == 0 }.sorted { $0.value.lastUse < $1.value.lastUse }
        let evicted = oldestFirst.enumerated().prefix { index, entry in
            index < excess || entry.value.lastUse.duration(to: now) >= idleLifetime
        }
        return evicted.compactMap { table.entries.removeValue(forKey: $0.element.key)?.client }
    }

    private static func retire(_ clients: [HTTPClient]) {
        // The clients are unused, and no caller could handle the error of a connection that failed to close.
        for client in clients { client.shutdown { _ in } }
    }
}
