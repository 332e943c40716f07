import Synchronization

/// A token bucket for each client, as the moment at which it will be full again.
///
/// At most so many clients are kept. Whoever is not kept has a full bucket; so when there is no room, one that is full or nearly so makes it, and a
/// flood of new addresses drives out its own kind rather than a client that is kept waiting.
package final class RateLimiter: Sendable {
    private struct Table {
        var buckets: [(client: String, fullAt: Duration)] = []
        var places: [String: Int] = [:]
        /// Where the next search for room begins.
        var hand = 0
    }

    private let maxClients: Int
    private let table = Mutex(Table())
    private let now: @Sendable () -> Duration
    /// The buckets that are looked at to make room for one.
    private static let candidates = 64

    /// - Parameters:
    ///   - maxClients: at least 1.
    ///   - now: the time since some moment of the past; it never goes back.
    package init(
        maxClients: Int = 65_536,
        now: @escaping @Sendable () -> Duration = { [start = ContinuousClock.now] in start.duration(to: .now) }
    ) {
        self.maxClients = maxClients
        self.now = now
    }

    /// Takes a token out of a client's bucket, which holds `rate.requests` and fills up within `rate.period`.
    ///
    /// - Returns: nil = there was one; else how long it takes until there is, and nothing is taken.
    package func admit(_ client: String, _ rate: Rate) -> Duration? {
        let now = now()
        let cost = rate.period / rate.requests
        return table.withLock { table in
            let place = table.places[client]
            let fullAt = max(place.map { table.buckets[$0].fullAt } ?? now, now) + cost
            guard fullAt - now <= rate.period else { return fullAt - now - rate.period }
            keep(fullAt, of: client, at: place, in: &table)
            return nil
        }
    }

    private func keep(_ fullAt: Duration, of client: String, at place: Int?, in table: inout Table) {
        if let place {
            table.buckets[place].fullAt = fullAt
        } else if table.buckets.count < maxClients {
            table.places[client] = table.buckets.count
            table.buckets.append((client, fullAt))
        } else {
            let place = fullest(in: &table)
            table.places[table.buckets[place].client] = nil
            table.places[client] = place
            table.buckets[place] = (client, fullAt)
        }
    }

    /// The fullest of the next few.
    private func fullest(in table: inout Table) -> Int {
        let count = table.buckets.count
        let next = (0..<min(Self.candidates, count)).map { [hand = table.hand] in (hand + $0) % count }
        table.hand = (table.hand + next.count) % count
        return next.min { table.buckets[$0].fullAt < table.buckets[$1].fullAt } ?? 0
    }
}
