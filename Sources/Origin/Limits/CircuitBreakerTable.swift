import DarkroomNetwork
import Logging
import Synchronization

/// The circuit breakers of all hosts that failed recently. Hosts that answer take no memory.
///
/// A host has one breaker for failures to connect, which no URL causes, and one for each client whose requests it ended
/// without an answer: a client that names URLs for which a host closes the connection ends the requests of no other.
final class CircuitBreakerTable: Sendable {
    /// The host, by name since addresses change, and the port.
    struct Peer: Hashable {
        let host: String
        let port: Int
        /// The client whose requests failed; nil for failures to connect.
        var client: String?

        func concerning(_ client: String) -> Peer { Peer(host: host, port: port, client: client) }
    }

    private typealias Permits = [(peer: Peer, permit: CircuitBreaker.Permit)]

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

    /// Throws ``OriginError/hostUnavailable(retryAfter:)`` if the peer must not be asked for the client now. Takes no
    /// permit, so it can be called long before the request.
    func check(_ peer: Peer, for client: String = "") throws(OriginError) {
        let wait = table.withLock { Self.refusal(of: [peer, peer.concerning(client)], in: $0, at: now()) }
        if let wait { throw .hostUnavailable(retryAfter: wait) }
    }

    /// Runs a request to the peer for a client, if it may be asked now, and records the outcome.
    func perform<Value>(
        _ peer: Peer, for client: String = "", _ body: () async throws(OriginError) -> Value
    ) async throws(OriginError) -> Value {
        let permits = try admit(to: [peer, peer.concerning(client)])
        do throws(OriginError) {
            let value = try await body()
            record(permits) { _ in .answered }
            return value
        } catch {
            let (connecting, answering) = CircuitBreaker.Outcome.outcomes(of: error)
            record(permits) { $0.client == nil ? connecting : answering }
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

    private func admit(to peers: [Peer]) throws(OriginError) -> Permits {
        let (permits, wait) = table.withLock { table -> (Permits, Duration?) in
            if let wait = Self.refusal(of: peers, in: table, at: now()) { return ([], wait) }
            let permits = peers.map { peer -> (Peer, CircuitBreaker.Permit) in
                table.lastTicket += 1
                let admission = table.entries[peer]?.breaker.admit(at: now(), ticket: table.lastTicket)
                if case .granted(let permit)? = admission { return (peer, permit) }
                return (peer, .ordinary)
            }
            return (permits, nil)
        }
        if let wait { throw .hostUnavailable(retryAfter: wait) }
        return permits
    }

    /// The longest wait that a breaker demands.
    private static func refusal(of peers: [Peer], in table: Table, at now: ContinuousClock.Instant) -> Duration? {
        peers.compactMap { table.entries[$0]?.breaker.refusal(at: now) }.max()
    }

    private func record(_ permits: Permits, _ outcome: (Peer) -> CircuitBreaker.Outcome) {
        for (peer, permit) in permits { record(outcome(peer), of: permit, to: peer) }
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
    /// What an error says about connecting to the host, and about its answers to one client.
    static func outcomes(of error: OriginError) -> (connecting: Self, answering: Self) {
        switch error {
        case .unreachable(.dns), .unreachable(.refused), .unreachable(.connect), .unreachable(.tls),
            .unreachable(.certificate), .timedOut(.lookup), .timedOut(.connecting):
            (.failed, .inconclusive)
        // The host was reached, and the URL may be the cause.
        case .unreachable(.reset): (.inconclusive, .failed)
        case .notFound, .unexpectedStatus, .tooLarge, .tooManyRedirects, .badRedirect, .unacceptableEncoding,
            .emptyBody, .loop, .unreachable(.incomplete), .timedOut(.body):
            (.answered, .answered)
        // The host exists, but is too slow or not an HTTP server.
        case .timedOut(.response), .unreachable(.malformed), .unreachable(.configuration):
            (.inconclusive, .inconclusive)
        case .invalidURL, .notAllowed, .localNotFound, .hostUnavailable, .timedOut(.waiting), .cancelled:
            (.inconclusive, .inconclusive)
        }
    }
}
