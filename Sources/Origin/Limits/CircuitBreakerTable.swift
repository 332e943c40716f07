import DarkroomNetwork
import Logging
import Synchronization

/// The circuit breakers of all hosts that failed recently. Hosts that answer take no memory.
final class CircuitBreakerTable: Sendable {
    /// The host, by name since addresses change, and the port.
    struct Peer: Hashable {
        let host: String
        let port: Int
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
    ///   - capacity: the greatest number of hosts. Above it, the hosts that failed longest ago are removed, hosts
    ///     without an outage first. Clients can name any number of hosts that do not exist.
    ///   - random: returns 0 to 1, the jitter of pauses.
    init(
        capacity: Int = 10_000, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) }, logger: Logger
    ) {
        self.capacity = max(1, capacity)
        self.now = now
        self.random = random
        self.logger = logger
    }

    /// Throws ``OriginError/hostUnavailable(retryAfter:)`` if the peer must not be asked now. Takes no permit, so it
    /// can be called long before the request.
    func check(_ peer: Peer) throws(OriginError) {
        let wait = table.withLock { $0.entries[peer]?.breaker.refusal(at: now()) }
        if let wait { throw .hostUnavailable(retryAfter: wait) }
    }

    /// Runs a request to the peer, if it may be asked now, and records the outcome.
    func perform<Value>(
        _ peer: Peer, _ body: () async throws(OriginError) -> Value
    ) async throws(OriginError) -> Value {
        let permit = try admit(to: peer)
        do throws(OriginError) {
            let value = try await body()
            record(.answered, of: permit, to: peer)
            return value
        } catch {
            record(CircuitBreaker.Outcome(error), of: permit, to: peer)
            throw error
        }
    }

    /// Removes the recorded failures of a host, at all its ports, or of all hosts.
    func clear(host: String?) {
        table.withLock { table in
            table.entries = host.map { host in table.entries.filter { $0.key.host != host } } ?? [:]
        }
    }

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

    private func record(_ outcome: CircuitBreaker.Outcome, of permit: CircuitBreaker.Permit, to peer: Peer) {
        let change = table.withLock { table -> CircuitBreaker.Change? in
            guard outcome == .failed || table.entries[peer] != nil else { return nil }
            let now = now()
            var entry = table.entries[peer] ?? Entry(changedAt: now)
            entry.changedAt = now
            let change = entry.breaker.record(outcome, of: permit, at: now, random: random())
            table.entries[peer] = entry.breaker.isHealthy ? nil : entry
            removeOldest(in: &table)
            return change
        }
        if let change { log(change, of: peer) }
    }

    /// Removes an eighth of the capacity at once, so that a flood of failing hosts does not sort on every failure.
    private func removeOldest(in table: inout Table) {
        guard table.entries.count > capacity else { return }
        let removalOrder = table.entries.sorted { left, right in
            let (left, right) = (left.value, right.value)
            guard left.breaker.isOutage == right.breaker.isOutage else { return right.breaker.isOutage }
            return left.changedAt < right.changedAt
        }
        for (peer, _) in removalOrder.prefix(table.entries.count - capacity + capacity / 8) {
            table.entries[peer] = nil
        }
    }

    private func log(_ change: CircuitBreaker.Change, of peer: Peer) {
        let metadata: Logger.Metadata = ["host": "\(peer.host)", "port": "\(peer.port)"]
        switch change {
        case .outageBegan(let pause):
            logger.warning(
                "origin host is unreachable; requests to it are paused",
                metadata: metadata.merging(["pause": "\(pause)"]) { $1 })
        case .outageEnded:
            logger.notice("origin host is reachable again", metadata: metadata)
        }
    }
}

extension CircuitBreakerTable.Peer {
    init(_ url: SourceURL) { self.init(host: url.host?.description ?? "", port: url.port ?? 0) }
}

extension CircuitBreaker.Outcome {
    /// The outcome that an error implies for the reachability of the host.
    init(_ error: OriginError) {
        self =
            switch error {
            case .unreachable(.dns), .unreachable(.refused), .unreachable(.connect), .unreachable(.tls),
                .unreachable(.certificate), .unreachable(.reset), .timedOut(.resolving), .timedOut(.connecting):
                .failed
            case .notFound, .unexpectedStatus, .tooLarge, .tooManyRedirects, .badRedirect, .unacceptableEncoding,
                .emptyBody, .loop, .unreachable(.incomplete), .timedOut(.body):
                .answered
            // The host exists, but is too slow or not an HTTP server.
            case .timedOut(.response), .unreachable(.malformed), .unreachable(.configuration): .inconclusive
            case .invalidURL, .notAllowed, .localNotFound, .hostUnavailable, .timedOut(.waiting), .cancelled:
                .inconclusive
            }
    }
}
