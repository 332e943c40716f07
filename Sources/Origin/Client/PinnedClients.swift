import AsyncHTTPClient
import DarkroomNetwork
import NIOCore
import Synchronization

/// HTTP clients that each know one host at one vetted address and can reach nothing else.
///
/// AsyncHTTPClient has no resolver hook and never gives up the pool of a host, so pinning and eviction are done by the
/// life of whole clients: they share the event loops, stay while they are used, and leave when they idled for
/// `idleLifetime` (seen to when another one is asked for) or when `capacity` is exceeded, the least recently used first.
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

    /// Closes all connections, running transfers included, and lends no client again.
    func shutdown() async {
        let clients = table.withLock { table in
            table.isShutDown = true
            defer { table.entries = [:] }
            return table.entries.values.map(\.client)
        }
        for client in clients { try? await client.shutdown() }
    }

    /// How many clients exist.
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

    /// Takes out clients that nobody uses: those beyond the capacity, and once in a while those that idled too long.
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
        // Nobody uses them any more, and there is no one to tell of a connection that closed badly.
        for client in clients { client.shutdown { _ in } }
    }
}
