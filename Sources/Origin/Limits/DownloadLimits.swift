import DarkroomWaiting
import Synchronization

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

/// Limits the number of concurrent downloads, in total and per host, and queues further downloads.
///
/// A free slot goes to the highest priority at that moment, then to the client with the fewest running downloads, and
/// then to the oldest download. A download that several clients wait for counts for the client among them with the
/// fewest running downloads. A host at its limit does not delay downloads from other hosts. No download starts while
/// the byte budget is exhausted.
///
/// The last slot of a host is reserved for clients without a slot of that host. An eighth of all slots is reserved for
/// clients without any slot. Sources that hang thus delay only the client that requests them. At most
/// ``waitersPerSlot`` downloads wait for each slot. Beyond that, a client with few waiting downloads takes the place of
/// a client with many.
final class DownloadLimiter: Sendable {
    static let waitersPerSlot = 64

    private let queue: Mutex<DownloadQueue>
    private let budget: InFlightByteBudget
    private let didQueue: @Sendable () -> Void

    /// - Parameter didQueue: called whenever a download has been queued.
    init(
        downloadsPerHost: Int, maxDownloads: Int, budget: InFlightByteBudget = InFlightByteBudget(budgetBytes: .max),
        didQueue: @escaping @Sendable () -> Void = {}
    ) {
        self.budget = budget
        self.didQueue = didQueue
        queue = Mutex(
            DownloadQueue(downloadsPerHost: max(1, downloadsPerHost), maxDownloads: max(1, maxDownloads)))
        budget.onRelease { [weak self] in self?.startWaiting() }
    }

    /// Runs `body` in a slot. Waiting ends with ``OriginError/cancelled`` at the deadline or when the task is canceled,
    /// and with ``OriginError/timedOut(_:)`` and `waiting` if too many downloads wait.
    ///
    /// - Parameters:
    ///   - clients: returns the clients that wait at the moment, at least one. Called while the lock is held.
    ///   - urgency: returns the current priority. Called while the lock is held.
    func withSlot<Value>(
        host: String, clients: @escaping @Sendable () -> [String] = { [""] }, deadline: Deadline = Deadline(),
        urgency: @escaping @Sendable () -> OriginRequest.Priority,
        _ body: () async throws(OriginError) -> Value
    ) async throws(OriginError) -> Value {
        let client: String
        switch await enter(Download(host: host, clients: clients, urgency: urgency), deadline) {
        case .started(let charged): client = charged
        case .refused(let error): throw error
        }
        defer {
            queue.withLock { $0.stop(host, client) }
            startWaiting()
        }
        return try await body()
    }

    var waitingCount: Int { queue.withLock(\.waitingCount) }

    private func enter(_ download: Download, _ deadline: Deadline) async -> Download.Entry {
        if Task.isCancelled || deadline.hasPassed { return .refused(.cancelled) }
        let place = queue.withLock { queue in
            if !budget.isFull, let client = queue.clientWithSlot(download) {
                queue.start(download, client)
                return DownloadQueue.Place.running(client)
            }
            return queue.append(download)
        }
        switch place {
        case .running(let client):
            return .started(client)
        case .waiting(let number, let wait, let refused):
            refused?.end(.refused(.timedOut(.waiting)))
            didQueue()
            return await wait.answer(until: deadline) { [self] in
                queue.withLock { $0.remove(number) }?.end(.refused(.cancelled))
            }
        }
    }

    /// Gives the free slots to the downloads that are next.
    func startWaiting() {
        while let next = queue.withLock({ budget.isFull ? nil : $0.startNext() }) {
            next.wait.end(.started(next.client))
        }
    }
}

/// A download, as far as its slot is concerned.
private struct Download: Sendable {
    /// The end of a download's wait for a slot.
    enum Entry: Sendable {
        /// It has a slot, which counts for this client.
        case started(String)
        case refused(OriginError)
    }

    let host: String
    let clients: @Sendable () -> [String]
    let urgency: @Sendable () -> OriginRequest.Priority
}

/// The downloads that run and wait.
private struct DownloadQueue {
    final class Waiter: WaitingLineMember {
        let number: Int
        let download: Download
        let wait = Wait<Download.Entry>()
        /// Of the clients that wait for this download, the one with the fewest running downloads.
        fileprivate(set) var client: String

        var level: OriginRequest.Priority { download.urgency() }

        init(_ number: Int, _ download: Download, _ client: String) {
            self.number = number
            self.download = download
            self.client = client
        }
    }

    /// Where a new download is.
    enum Place {
        /// In a slot that counts for this client.
        case running(String)
        /// In the line, or refused. `refused` is the wait that lost its place; it may be its own.
        case waiting(Int, Wait<Download.Entry>, refused: Wait<Download.Entry>?)
    }

    /// The place of a waiter among all waiters at one moment. The lowest is served first.
    private struct Rank: Comparable {
        let level: OriginRequest.Priority
        /// The number of running downloads of its client.
        let running: Int
        let turn: Int

        static func < (left: Rank, right: Rank) -> Bool {
            guard left.level == right.level else { return left.level > right.level }
            return (left.running, left.turn) < (right.running, right.turn)
        }
    }

    private let downloadsPerHost: Int
    private let maxDownloads: Int
    /// The running downloads of each client.
    private var running = Tally()
    /// The same of each host with running downloads.
    private var hosts: [String: Tally] = [:]
    private var line = WaitingLine<Waiter>()
    private var lastNumber = 0

    init(downloadsPerHost: Int, maxDownloads: Int) {
        self.downloadsPerHost = downloadsPerHost
        self.maxDownloads = maxDownloads
    }

    var waitingCount: Int { line.count }

    /// The client that a download would start for now; nil if it must wait.
    func clientWithSlot(_ download: Download) -> String? {
        let client = client(of: download)
        return hasSlot(at: download.host, for: client) ? client : nil
    }

    private func client(of download: Download) -> String {
        let clients = download.clients()
        guard clients.count > 1 else { return clients.first ?? "" }
        return clients.min { running[$0] < running[$1] } ?? ""
    }

    private func hasSlot(at host: String, for client: String) -> Bool {
        guard running.total < maxDownloads - (running[client] == 0 ? 0 : maxDownloads / 8) else { return false }
        guard let ofHost = hosts[host] else { return true }
        return ofHost.total < downloadsPerHost - (ofHost[client] == 0 ? 0 : 1)
    }

    mutating func start(_ download: Download, _ client: String) {
        running.add(client)
        hosts[download.host, default: Tally()].add(client)
    }

    mutating func stop(_ host: String, _ client: String) {
        running.remove(client)
        hosts[host]?.remove(client)
        if hosts[host]?.total == 0 { hosts[host] = nil }
    }

    /// Adds a download to the line, unless the line is full and the download takes no other place.
    mutating func append(_ download: Download) -> Place {
        lastNumber += 1
        let waiter = Waiter(lastNumber, download, client(of: download))
        var refused: Waiter?
        if line.count >= maxDownloads * DownloadLimiter.waitersPerSlot {
            updateClients()
            guard let victim = line.victim(for: download.clients(), at: waiter.level) else {
                return .waiting(waiter.number, waiter.wait, refused: waiter.wait)
            }
            refused = line.remove(at: victim)
        }
        line.append(waiter)
        return .waiting(waiter.number, waiter.wait, refused: refused?.wait)
    }

    mutating func remove(_ number: Int) -> Wait<Download.Entry>? { line.remove(number)?.wait }

    /// Gives a slot to the first waiter that may have it.
    mutating func startNext() -> (wait: Wait<Download.Entry>, client: String)? {
        guard running.total < maxDownloads, line.count > 0 else { return nil }
        updateClients()
        let first = line.first { waiter in
            guard hasSlot(at: waiter.download.host, for: waiter.client) else { return Rank?.none }
            return Rank(level: waiter.level, running: running[waiter.client], turn: waiter.number)
        }
        guard let waiter = first.map({ line.remove(at: $0.index) }) else { return nil }
        start(waiter.download, waiter.client)
        return (waiter.wait, waiter.client)
    }

    /// Reads which clients wait, since more may have joined.
    private mutating func updateClients() {
        for waiter in line.members {
            let client = client(of: waiter.download)
            if client != waiter.client { line.change(waiter) { waiter.client = client } }
        }
    }
}
