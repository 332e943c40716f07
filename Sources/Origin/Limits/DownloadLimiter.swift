import DarkroomWaiting
import Synchronization

/// Limits the number of concurrent downloads, in total and per host, and queues further downloads.
///
/// A free slot goes to the highest priority at that moment, then to the client with the fewest running downloads, and
/// then by ``DownloadOrder``. A host at its limit does not delay downloads from other hosts. No download starts while
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
        downloadsPerHost: Int, maxDownloads: Int, order: DownloadOrder = .fifo,
        budget: InFlightByteBudget = InFlightByteBudget(budgetBytes: .max),
        didQueue: @escaping @Sendable () -> Void = {}
    ) {
        self.budget = budget
        self.didQueue = didQueue
        queue = Mutex(
            DownloadQueue(downloadsPerHost: max(1, downloadsPerHost), maxDownloads: max(1, maxDownloads), order: order))
        budget.onRelease { [weak self] in self?.startWaiting() }
    }

    /// Runs `body` in a slot. Waiting ends with ``OriginError/cancelled`` at the deadline or when the task is canceled,
    /// and with ``OriginError/timedOut(_:)`` and `waiting` if too many downloads wait.
    ///
    /// - Parameter urgency: returns the current priority. Called while the lock is held.
    func withSlot<Value>(
        host: String, client: String = "", deadline: Deadline = Deadline(),
        urgency: @escaping @Sendable () -> OriginRequest.Priority,
        _ body: () async throws(OriginError) -> Value
    ) async throws(OriginError) -> Value {
        let download = Download(host: host, client: client, urgency: urgency)
        if let refusal = await enter(download, deadline) { throw refusal }
        defer {
            queue.withLock { $0.stop(download) }
            startWaiting()
        }
        return try await body()
    }

    var waitingCount: Int { queue.withLock(\.waiting.count) }

    /// Waits for a slot, and returns the reason if none was granted.
    private func enter(_ download: Download, _ deadline: Deadline) async -> OriginError? {
        if Task.isCancelled || deadline.hasPassed { return .cancelled }
        let entry = queue.withLock { queue -> (waiter: DownloadQueue.Waiter, refused: DownloadQueue.Waiter?)? in
            guard budget.isFull || !queue.hasSlot(for: download) else {
                queue.start(download)
                return nil
            }
            return queue.append(download)
        }
        guard let (waiter, refused) = entry else { return nil }
        refused?.wait.end(.timedOut(.waiting))
        didQueue()
        return await waiter.wait.answer(until: deadline) { [self] in
            queue.withLock { $0.waiting.remove(waiter.number)?.wait }?.end(.cancelled)
        }
    }

    /// Gives the free slots to the downloads that are next.
    private func startWaiting() {
        while let next = queue.withLock({ budget.isFull ? nil : $0.startNext() }) { next.end(nil) }
    }
}

/// A download, as far as its slot is concerned.
private struct Download: Sendable {
    let host: String
    let client: String
    let urgency: @Sendable () -> OriginRequest.Priority
}

/// The downloads that run and wait.
private struct DownloadQueue {
    final class Waiter: WaitingLineMember, Sendable {
        let number: Int
        let download: Download
        let wait = Wait<OriginError?>()

        var client: String { download.client }
        var level: OriginRequest.Priority { download.urgency() }

        init(_ number: Int, _ download: Download) {
            self.number = number
            self.download = download
        }
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
    private let order: DownloadOrder
    /// The running downloads of each client.
    private var running = Tally()
    /// The same of each host with running downloads.
    private var hosts: [String: Tally] = [:]
    var waiting = WaitingLine<Waiter>()
    private var lastNumber = 0

    init(downloadsPerHost: Int, maxDownloads: Int, order: DownloadOrder) {
        self.downloadsPerHost = downloadsPerHost
        self.maxDownloads = maxDownloads
        self.order = order
    }

    /// Whether a download may start now.
    func hasSlot(for download: Download) -> Bool {
        let client = download.client
        guard running.total < maxDownloads - (running[client] == 0 ? 0 : maxDownloads / 8) else { return false }
        guard let ofHost = hosts[download.host] else { return true }
        return ofHost.total < downloadsPerHost - (ofHost[client] == 0 ? 0 : 1)
    }

    mutating func start(_ download: Download) {
        running.add(download.client)
        hosts[download.host, default: Tally()].add(download.client)
    }

    mutating func stop(_ download: Download) {
        running.remove(download.client)
        hosts[download.host]?.remove(download.client)
        if hosts[download.host]?.total == 0 { hosts[download.host] = nil }
    }

    /// Adds a download to the line.
    ///
    /// - Returns: the waiter, and the waiter that lost its place; it may be the same.
    mutating func append(_ download: Download) -> (waiter: Waiter, refused: Waiter?) {
        lastNumber += 1
        let waiter = Waiter(lastNumber, download)
        var refused: Waiter?
        if waiting.count >= maxDownloads * DownloadLimiter.waitersPerSlot {
            guard let place = waiting.victim(for: [waiter.client], at: waiter.level) else { return (waiter, waiter) }
            refused = waiting.remove(at: place)
        }
        waiting.append(waiter)
        return (waiter, refused)
    }

    /// Gives a slot to the first waiter that may have it.
    mutating func startNext() -> Wait<OriginError?>? {
        guard running.total < maxDownloads else { return nil }
        let first = waiting.first { waiter in
            guard hasSlot(for: waiter.download) else { return Rank?.none }
            let turn = order == .fifo ? waiter.number : -waiter.number
            return Rank(level: waiter.level, running: running[waiter.client], turn: turn)
        }
        guard let first else { return nil }
        let waiter = waiting.remove(at: first.index)
        start(waiter.download)
        return waiter.wait
    }
}

/// The order in which waiting downloads of equal priority start.
public enum DownloadOrder: String, CaseIterable, Hashable, Sendable {
    /// First in, first out.
    case fifo
    /// Last in, first out: for clients that scroll past images that they requested before.
    case lifo
}
