package import DarkroomNetwork
import Synchronization

/// A request rate: the size of a client's token bucket, and the time in which it refills completely.
package struct Rate: Hashable, Sendable {
    /// The number of requests, 1 to 1,000,000.
    package let requests: Int
    /// A second, a minute or an hour.
    package let period: Duration

    /// Parses `20/s`, `600/m` or `1000/h`; nil for any other text.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let unit = Self.units.first(where: { $0.symbol == parts[1] }),
            (1...9).contains(parts[0].utf8.count), parts[0].utf8.allSatisfy(\.isASCIIDigit),
            let requests = Int(parts[0]), (1...1_000_000).contains(requests)
        else { return nil }
        self.requests = requests
        period = unit.period
    }

    /// The rate as it is parsed: `20/s`.
    package var text: String {
        let unit = Self.units.first { $0.period == period }?.symbol ?? "\(period)"
        return "\(requests)/\(unit)"
    }

    fileprivate static let units: [(symbol: String, period: Duration, name: String)] = [
        ("s", .seconds(1), "second"), ("m", .seconds(60), "minute"), ("h", .seconds(3600), "hour"),
    ]
}

extension Rate: CustomStringConvertible {
    /// The rate in words, such as `20 requests per second`.
    package var description: String {
        let unit = Self.units.first { $0.period == period }?.name ?? "\(period)"
        return "\(requests) request\(requests == 1 ? "" : "s") per \(unit)"
    }
}

/// A token bucket per client, stored as the time at which the bucket will be full again.
///
/// The number of clients is bounded. A client without an entry has a full bucket, so the entry evicted for a new client
/// has a full or nearly full bucket. A flood of new addresses evicts its own entries before it evicts the entry of a
/// throttled client.
package final class RateLimiter: Sendable {
    private struct Table {
        var buckets: [(client: String, fullAt: Duration)] = []
        /// The index of each client's bucket.
        var indices: [String: Int] = [:]
        /// The index at which the next search for an eviction candidate begins.
        var hand = 0
    }

    private let maxClients: Int
    private let table = Mutex(Table())
    private let now: @Sendable () -> Duration
    /// The number of buckets examined per eviction.
    private static let candidates = 64

    /// Has entries for at most `maxClients` clients, at least 1. The clock must be monotonic.
    package init(
        maxClients: Int = 65_536,
        now: @escaping @Sendable () -> Duration = { [start = ContinuousClock.now] in start.duration(to: .now) }
    ) {
        self.maxClients = maxClients
        self.now = now
    }

    /// Takes a token from a client's bucket, which holds `rate.requests` tokens and refills within `rate.period`, or
    /// returns the time until a token is available.
    package func admit(_ client: String, _ rate: Rate) -> Duration? {
        let now = now()
        let cost = rate.period / rate.requests
        return table.withLock { table in
            let index = table.indices[client]
            if let index {
                // A bucket is at most empty: its time may be of a longer period, from before a reload.
                table.buckets[index].fullAt = min(table.buckets[index].fullAt, now + rate.period)
            }
            let fullAt = max(index.map { table.buckets[$0].fullAt } ?? now, now) + cost
            guard fullAt - now <= rate.period else { return fullAt - now - rate.period }
            store(fullAt, for: client, at: index, in: &table)
            return nil
        }
    }

    /// Takes further tokens for a request that has taken one, at most all of the bucket. If there are not so many, it
    /// gives that one back and returns the time until all are available.
    package func admit(_ client: String, _ rate: Rate, further tokens: Int) -> Duration? {
        let now = now()
        let cost = rate.period / rate.requests
        return table.withLock { table in
            guard let index = table.indices[client] else { return nil }
            let current = table.buckets[index].fullAt
            let fullAt = max(current, now) + cost * min(tokens, rate.requests - 1)
            guard fullAt - now > rate.period else {
                table.buckets[index].fullAt = fullAt
                return nil
            }
            table.buckets[index].fullAt = current - cost
            return fullAt - now - rate.period
        }
    }

    private func store(_ fullAt: Duration, for client: String, at index: Int?, in table: inout Table) {
        if let index {
            table.buckets[index].fullAt = fullAt
        } else if table.buckets.count < maxClients {
            table.indices[client] = table.buckets.count
            table.buckets.append((client, fullAt))
        } else {
            let index = fullestCandidate(in: &table)
            table.indices[table.buckets[index].client] = nil
            table.indices[client] = index
            table.buckets[index] = (client, fullAt)
        }
    }

    /// The index of the fullest bucket among the next few.
    private func fullestCandidate(in table: inout Table) -> Int {
        let count = table.buckets.count
        let next = (0..<min(Self.candidates, count)).map { [hand = table.hand] in (hand + $0) % count }
        table.hand = (table.hand + next.count) % count
        return next.min { table.buckets[$0].fullAt < table.buckets[$1].fullAt } ?? 0
    }
}

/// The identity of clients behind proxies, and the limits for each client.
package struct ClientLimits: Equatable, Sendable {
    /// Reverse proxies whose `Forwarded` and `X-Forwarded-For` fields are trusted.
    package var trustedProxies: [CIDR] = []
    /// The request rate of each client; nil = unlimited.
    package var rateLimit: Rate?
    package var connections = ConnectionLimits.default

    /// The same defaults as the command line.
    package static let `default` = ClientLimits()
}

/// Limits and timeouts for connections. Each listener has its own count.
package struct ConnectionLimits: Hashable, Sendable {
    /// The maximum number of concurrent connections, at least 1. Further connections wait in the listen backlog.
    package var maxConnections = 8192
    /// The maximum number of concurrent connections of one client, which is an IPv4 address or an IPv6 /64 network.
    /// Further connections are closed at once. Trusted proxies are exempt.
    package var maxConnectionsPerClient = 1024
    /// The time from connecting, or from a request's first byte, to the end of the header fields.
    package var headerTimeout = Duration.seconds(10)
    /// The time from the end of the header fields to the end of the body; as long as a request may take by default.
    package var bodyTimeout = Duration.seconds(30)
    /// The time between a response and the next request.
    package var idleTimeout = Duration.seconds(30)
    /// The time that a pending response may wait for its client. Each byte that the client accepts extends it, up to
    /// this time again; see ``minReadRate``.
    package var writeTimeout = Duration.seconds(30)
    /// The time that in-flight requests have to finish after a graceful shutdown begins. By default it is as long as a
    /// request may take by default.
    package var shutdownGrace = Duration.seconds(30)

    /// The same defaults as the command line.
    package static let `default` = ConnectionLimits()

    /// The bytes per second that a client must accept on average: 64 kbit/s. A slower client would keep a response of
    /// 15 MiB in flight for more than half an hour. Phones with EDGE, the slowest network in use, read at 100 kbit/s or
    /// more.
    static let minReadRate = 8 << 10
    /// The maximum number of pipelined requests without a response. Further requests are discarded, and the connection
    /// closes after the last response.
    package static let maxPipelinedRequests = 64
    /// The maximum size in bytes of one header field, and of the request target.
    static let maxFieldBytes = 64 << 10
    /// The maximum size in bytes of the request target and all header fields together.
    static let maxHeadBytes = 80 << 10
    /// The maximum number of header fields.
    static let maxFields = 128
}
