import DarkroomNetwork
import Logging
import Synchronization

/// The circuit breakers of all hosts that lately failed. Hosts that answer take no memory.
final class CircuitBreakerTable: Sendable {
    /// Whom a connection leads to, by name: addresses come and go.
    struct Peer: Hashable {
        let host: String
        let port: Int

        init(_ url: SourceURL) {
            host = url.host?.description ?? ""
            port = url.port ?? 0
        }
    }

    private struct Entry {
        var breaker = CircuitBreaker()
        var changedAt: ContinuousClock.Instant
    }

    private struct Table {
        var entries: [Peer: Entry] = [:]
        var lastTicket: UInt64 = 0
    }

    private let table = Mutex(Table())
    private let capacity: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let random: @Sendable () -> Double
    private let logger: Logger

    /// - Parameters:
    ///   - capacity: how many hosts are remembered. Beyond it those that failed longest ago are forgotten, hosts without
    ///     an outage first: anybody can name hosts that do not exist.
    ///   - random: 0 to 1, for the jitter of pauses.
    init(
        capacity: Int = 10_000, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) }, logger: Logger
    ) {
        self.capacity = max(1, capacity)
        self.now = now
        self.random = random
        self.logger = logger
    }

    /// Throws ``OriginError/hostUnavailable(retryAfter:)`` if the peer may not be asked now. Takes no permit, so it may
    /// be asked long before the attempt.
    func check(_ peer: Peer) throws(OriginError) {
        let wait = table.withLock { $0.entries[peer]?.breaker.refusal(at: now()) }
        if let wait { throw .hostUnavailable(retryAfter: wait) }
    }

    /// Runs an attempt to ask the peer, if it may be asked now, and learns from how it ends.
    func attempt<Value>(
        _ peer: Peer, _ body: () async throws(OriginError) -> Value
    ) async throws(OriginError) -> Value {
        let permit = try admit(to: peer)
        do throws(OriginError) {
            let value = try await body()
            settle(permit, of: peer, with: .answered)
            return value
        } catch {
            settle(permit, of: peer, with: CircuitBreaker.Outcome(error))
            throw error
        }
    }

    /// Forgets what is held against a host, at all its ports, or against all hosts.
    func forget(host: String?) {
        table.withLock { table in
            table.entries = host.map { host in table.entries.filter { $0.key.host != host } } ?? [:]
        }
    }

    /// How many hosts are remembered.
    var count: Int { table.withLock { $0.entries.count } }

    private func admit(to peer: Peer) throws(OriginError) -> CircuitBreaker.Permit {
        let admission = table.withLock { table in
            table.lastTicket += 1
            return table.entries[peer]?.breaker.admit(at: now(), ticket: table.lastTicket) ?? .granted(.ordinary)
        }
        switch admission {
        case .granted(let permit): return permit
        case .refused(let wait): throw .hostUnavailable(retryAfter: wait)
        }
    }

    private func settle(_ permit: CircuitBreaker.Permit, of peer: Peer, with outcome: CircuitBreaker.Outcome) {
        let change = table.withLock { table -> CircuitBreaker.Change? in
            guard outcome == .failed || table.entries[peer] != nil else { return nil }
            let now = now()
            var entry = table.entries[peer] ?? Entry(changedAt: now)
            entry.changedAt = now
            let change = entry.breaker.settle(permit, with: outcome, at: now, random: random())
            table.entries[peer] = entry.breaker.isHealthy ? nil : entry
            forgetOldest(in: &table)
            return change
        }
        if let change { log(change, of: peer) }
    }

    /// Makes room for an eighth of the capacity at once, so that a flood of failing hosts does not sort on each failure.
    private func forgetOldest(in table: inout Table) {
        guard table.entries.count > capacity else { return }
        let leastMissedFirst = table.entries.sorted { left, right in
            let (left, right) = (left.value, right.value)
            guard left.breaker.isOutage == right.breaker.isOutage else { return right.breaker.isOutage }
            return left.changedAt < right.changedAt
        }
        for (peer, _) in leastMissedFirst.prefix(table.entries.count - capacity + capacity / 8) {
            table.entries[peer] = nil
        }
    }

    private func log(_ change: CircuitBreaker.Change, of peer: Peer) {
        let metadata: Logger.Metadata = ["host": "\(peer.host)", "port": "\(peer.port)"]
        switch change {
        case .outageBegan(let pause):
            logger.warning(
                "a host cannot be reached and is not asked for a while",
                metadata: metadata.merging(["pause": "\(pause)"]) { $1 })
        case .outageEnded:
            logger.notice("a host can be reached again", metadata: metadata)
        }
    }
}

extension CircuitBreaker.Outcome {
    /// What an error says about the host that was asked.
    init(_ error: OriginError) {
        self =
            switch error {
            case .unreachable(.dns), .unreachable(.refused), .unreachable(.connect), .unreachable(.tls),
                .unreachable(.certificate), .unreachable(.reset), .timedOut(.resolving), .timedOut(.connecting):
                .failed
            case .notFound, .unexpectedStatus, .tooLarge, .tooManyRedirects, .badRedirect, .unacceptableEncoding,
                .emptyBody, .loop, .unreachable(.incomplete), .timedOut(.body):
                .answered
            // Somebody is there, but it was too slow, or no HTTP server.
            case .timedOut(.response), .unreachable(.malformed): .inconclusive
            case .invalidURL, .notAllowed, .localNotFound, .hostUnavailable, .timedOut(.waiting), .cancelled:
                .inconclusive
            }
    }
}
