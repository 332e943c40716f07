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
    /// The number of downloads that may wait for each slot.
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
        if let refusal = await enter(host: host, client: client, deadline, urgency: urgency) { throw refusal }
        defer {
            queue.withLock { $0.stop(at: host, for: client) }
            startWaiting()
        }
        return try await body()
    }

    /// The number of downloads that wait for a slot.
    var waitingCount: Int { queue.withLock(\.waiting.count) }

    /// Waits for a slot.
    ///
    /// - Returns: the reason if no slot was granted; nil otherwise.
    private func enter(
        host: String, client: String, _ deadline: Deadline, urgency: @escaping @Sendable () -> OriginRequest.Priority
    ) async -> OriginError? {
        if Task.isCancelled || deadline.hasPassed { return .cancelled }
        let wait = Wait<OriginError?>()
        let (number, refused) = queue.withLock { queue -> (Int?, Wait<OriginError?>?) in
            if !budget.isFull, queue.hasSlot(at: host, for: client) {
                queue.start(at: host, for: client)
                return (nil, nil)
            }
            return queue.append(host: host, client: client, urgency: urgency, wait)
        }
        refused?.end(.timedOut(.waiting))
        guard let number else { return nil }
        didQueue()
        return await wait.answer(until: deadline) { [self] in
            queue.withLock { $0.waiting.remove(number)?.wait }?.end(.cancelled)
        }
    }

    /// Gives the free slots to the downloads that are next.
    private func startWaiting() {
        while let next = queue.withLock({ budget.isFull ? nil : $0.startNext() }) { next.end(nil) }
    }
}

/// The downloads that run and wait.
private struct DownloadQueue {
    final class Waiter: WaitingLineMember {
        let number: Int
        let host: String
        let client: String
        private let urgency: @Sendable () -> OriginRequest.Priority
        let wait: Wait<OriginError?>

        var level: OriginRequest.Priority { urgency() }

        init(
            _ number: Int, host: String, client: String, urgency: @escaping @Sendable () -> OriginRequest.Priority,
            _ wait: Wait<OriginError?>
        ) {
            self.number = number
            self.host = host
            self.client = client
            self.urgency = urgency
            self.wait = wait
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
    private var running = RunningDownloads()
    /// The hosts of running downloads.
    private var hosts: [String: RunningDownloads] = [:]
    var waiting = WaitingLine<Waiter>()
    private var lastNumber = 0

    init(downloadsPerHost: Int, maxDownloads: Int, order: DownloadOrder) {
        self.downloadsPerHost = downloadsPerHost
        self.maxDownloads = maxDownloads
        self.order = order
    }

    /// Whether a download may start now.
    func hasSlot(at host: String, for client: String) -> Bool {
        guard running.count < maxDownloads - (running[client] == 0 ? 0 : maxDownloads / 8) else { return false }
        guard let ofHost = hosts[host] else { return true }
        return ofHost.count < downloadsPerHost - (ofHost[client] == 0 ? 0 : 1)
    }

    mutating func start(at host: String, for client: String) {
        running.start(client)
        hosts[host, default: RunningDownloads()].start(client)
    }

    mutating func stop(at host: String, for client: String) {
        running.stop(client)
        hosts[host]?.stop(client)
        if hosts[host]?.count == 0 { hosts[host] = nil }
    }

    /// Adds a download to the line.
    ///
    /// - Returns: its number, and the wait of the download that lost its place.
    mutating func append(
        host: String, client: String, urgency: @escaping @Sendable () -> OriginRequest.Priority,
        _ wait: Wait<OriginError?>
    ) -> (Int, refused: Wait<OriginError?>?) {
        lastNumber += 1
        let waiter = Waiter(lastNumber, host: host, client: client, urgency: urgency, wait)
        var refused: Wait<OriginError?>?
        if waiting.count >= maxDownloads * DownloadLimiter.waitersPerSlot {
            guard let place = waiting.victim(for: [client], at: urgency()) else { return (lastNumber, wait) }
            refused = waiting.remove(at: place).wait
        }
        waiting.append(waiter)
        return (lastNumber, refused)
    }

    /// Gives a slot to the first waiter that may have it.
    mutating func startNext() -> Wait<OriginError?>? {
        guard running.count < maxDownloads else { return nil }
        let first = waiting.first { waiter in
            guard hasSlot(at: waiter.host, for: waiter.client) else { return Rank?.none }
            let turn = order == .fifo ? waiter.number : -waiter.number
            return Rank(level: waiter.level, running: running[waiter.client], turn: turn)
        }
        guard let first else { return nil }
        let waiter = waiting.remove(at: first.index)
        start(at: waiter.host, for: waiter.client)
        return waiter.wait
    }
}

/// The number of running downloads, together and of each client.
private struct RunningDownloads {
    private(set) var count = 0
    private var clients: [String: Int] = [:]

    subscript(client: String) -> Int { clients[client] ?? 0 }

    mutating func start(_ client: String) {
        count += 1
        clients[client, default: 0] += 1
    }

    mutating func stop(_ client: String) {
        count -= 1
        clients[client] = clients[client].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
}

/// The order in which waiting downloads of equal priority start.
public enum DownloadOrder: String, CaseIterable, Hashable, Sendable {
    /// First in, first out.
    case fifo
    /// Last in, first out: for clients that scroll past images that they requested before.
    case lifo
}
