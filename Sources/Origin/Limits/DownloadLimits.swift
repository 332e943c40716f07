import DarkroomWaiting

/// The limits that all downloads share, whatever their protocol: time, slots, bytes and circuit breakers.
struct DownloadLimits: Sendable {
    let circuits: CircuitBreakerTable
    let budget: InFlightByteBudget
    private let limiter: DownloadLimiter
    private let deadlines: DeadlineTimer

    init(_ settings: GuardedHTTPClient.Settings, circuits: CircuitBreakerTable, clock: any Clock<Duration>) {
        self.circuits = circuits
        budget = InFlightByteBudget(budgetBytes: settings.maxInFlightBytes)
        limiter = DownloadLimiter(
            downloadsPerHost: settings.downloadsPerHost, maxDownloads: settings.maxDownloads,
            budget: budget)
        deadlines = DeadlineTimer(settings.downloadTimeout, clock: clock)
    }

    /// Runs a download, which has ``GuardedHTTPClient/Settings/downloadTimeout`` from now on.
    ///
    /// - Parameter download: must end its waits at the deadline of the progress.
    func withDeadline<Value>(
        _ download: (DownloadProgress) async throws(OriginError) -> Value
    ) async throws(OriginError) -> Value {
        let progress = DownloadProgress()
        let deadline = deadlines.begin(progress.deadline.pass)
        defer { deadlines.end(deadline) }
        do throws(OriginError) {
            return try await download(progress)
        } catch {
            throw progress.cause(of: error)
        }
    }

    func startWaiting() { limiter.startWaiting() }

    /// Runs one exchange in a slot, unless the circuit breaker of the peer is open, and records its outcome there.
    ///
    /// - Parameter host: the name that ``GuardedHTTPClient/Settings/downloadsPerHost`` counts for.
    func withSlot<Value>(
        of peer: CircuitBreakerTable.Peer, host: String, for request: OriginRequest, progress: DownloadProgress,
        _ exchange: () async throws(OriginError) -> Value
    ) async throws(OriginError) -> Value {
        // Fails before queueing for a host known to be down. A download queued when an outage begins learns of it when
        // it gets a slot.
        try circuits.check(peer, for: request.client)
        progress.enter(.waiting)
        return try await limiter.withSlot(
            host: host, clients: request.clients, deadline: progress.deadline, urgency: request.urgency
        ) { () async throws(OriginError) in
            try await circuits.perform(peer, for: request.client) { () async throws(OriginError) in
                do throws(OriginError) {
                    return try await exchange()
                } catch {
                    // A host that hangs until the deadline must not look like a client that disconnected.
                    throw progress.cause(of: error)
                }
            }
        }
    }
}

/// The deadline of a download, with the phase that the download is in.
typealias DownloadProgress = PhasedDeadline<OriginError.Phase>

extension DownloadProgress {
    convenience init() { self.init(.waiting) }

    /// The error itself, or the timeout if that is why the download was canceled.
    func cause(of error: OriginError) -> OriginError {
        guard error == .cancelled, let phase = phaseWhenPassed else { return error }
        return .timedOut(phase)
    }
}
