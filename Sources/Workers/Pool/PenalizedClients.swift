/// Clients that had a drawing stopped because it took far longer than expected. For some time, their drawings run only
/// while a processor would be idle.
struct PenalizedClients {
    /// The most clients that are tracked. Beyond it, further clients are not penalized until a penalty ends.
    static let maxClients = 1024

    /// When the penalty of each client ends.
    private var ends: [String: ContinuousClock.Instant] = [:]

    mutating func add(_ client: String, until end: ContinuousClock.Instant, now: ContinuousClock.Instant) {
        ends = ends.filter { $0.value > now }
        if ends.count < Self.maxClients || ends[client] != nil { ends[client] = end }
    }

    func contains(_ client: String, now: ContinuousClock.Instant) -> Bool {
        ends[client].map { $0 > now } ?? false
    }
}
