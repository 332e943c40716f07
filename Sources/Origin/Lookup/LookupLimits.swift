import DarkroomWaiting

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
    private(set) var clients = Tally()
    private(set) var domains = Tally()

    mutating func add(client: String, domain: String) {
        clients.add(client)
        domains.add(domain)
    }

    mutating func remove(client: String, domain: String) {
        clients.remove(client)
        domains.remove(domain)
    }
}
