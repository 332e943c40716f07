/// How many lookups may run and wait, and how long their results are remembered.
struct LookupLimits: Sendable {
    /// Concurrent lookups, each on a thread of its own.
    var threads = 64
    /// Concurrent lookups of names below one registered domain, whose servers may never answer.
    var threadsPerDomain = 4
    /// Calls that wait, for a thread or for a result. A client, and a registered domain, may have a quarter of them.
    var calls = 1024
    /// Names whose results are remembered.
    var rememberedNames = 1024
    /// The maximum number of addresses of one name that are remembered. Longer results are looked up at each use.
    var rememberedAddresses = 32
    /// How long addresses are remembered.
    var answerLifetime = Duration.seconds(5)
    /// How long it is remembered that a name has no address, or that its lookup failed.
    var failureLifetime = Duration.seconds(2)
    /// How long names and domains whose lookups hung are refused.
    var hangLifetime = Duration.seconds(10)
    /// The duration from which a failed lookup counts as hung.
    var hangDuration = Duration.seconds(1)

    var callsPerShare: Int { max(1, calls / 4) }
}

/// Counts by client and by registered domain.
struct ShareCounts: Sendable {
    private(set) var total = 0
    private var clients: [String: Int] = [:]
    private var domains: [String: Int] = [:]

    func count(ofClient client: String) -> Int { clients[client] ?? 0 }
    func count(ofDomain domain: String) -> Int { domains[domain] ?? 0 }

    mutating func add(client: String, domain: String) {
        total += 1
        clients[client, default: 0] += 1
        domains[domain, default: 0] += 1
    }

    mutating func remove(client: String, domain: String) {
        total -= 1
        clients[client] = clients[client].flatMap { $0 > 1 ? $0 - 1 : nil }
        domains[domain] = domains[domain].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
}
