import Synchronization

/// Limits the number of concurrent downloads, in total and per host, and queues the others.
///
/// A free slot goes to the highest priority at that moment, then to the client with the fewest running downloads, and
/// then by ``DownloadOrder``. A host at its limit does not delay downloads from other hosts. No download starts while
/// the byte budget is exhausted.
///
/// The last slot of a host is only for clients that have none of its slots, and an eighth of all slots only for clients
/// that have none at all: sources that hang keep the client waiting that requests them, and no others.
final class DownloadLimiter: Sendable {
    private let queues: Mutex<Queues>
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
        queues = Mutex(
            Queues(downloadsPerHost: max(1, downloadsPerHost), maxDownloads: max(1, maxDownloads), order: order))
        budget.onRelease { [weak self] in self?.startWaiting() }
    }

    /// Runs `body` in a slot. Waiting ends with ``OriginError/cancelled`` at the deadline or when the task is canceled.
    ///
    /// - Parameter urgency: returns the current priority. Called while the lock is held.
    func withSlot<Value>(
        host: String, client: String = "", deadline: Deadline = Deadline(),
        urgency: @escaping @Sendable () -> OriginRequest.Priority,
        _ body: () async throws(OriginError) -> Value
    ) async throws(OriginError) -> Value {
        guard await enter(host: host, client: client, deadline, urgency: urgency) else { throw .cancelled }
        defer { leave(host: host, client: client) }
        return try await body()
    }

    /// The number of downloads that wait for a slot.
    var waitingCount: Int {
        queues.withLock { $0.hosts.values.reduce(0) { $0 + $1.waiting.count } }
    }

    private func enter(
        host: String, client: String, _ deadline: Deadline, urgency: @escaping @Sendable () -> OriginRequest.Priority
    ) async -> Bool {
        let ticket = queues.withLock { $0.nextTicket() }
        deadline.beginWait { [self] in cancel(ticket, host: host) }
        defer { deadline.endedWait() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(
                    ticket: ticket, client: client, urgency: urgency, continuation: continuation)
                let answer: Bool? = queues.withLock {
                    // Canceled before the waiter was queued: `cancel` found nothing to resume.
                    if Task.isCancelled || deadline.hasPassed { return false }
                    return self.admit(waiter, to: host, in: &$0) ? true : nil
                }
                if let answer { continuation.resume(returning: answer) } else { didQueue() }
            }
        } onCancel: {
            cancel(ticket, host: host)
        }
    }

    private func cancel(_ ticket: UInt64, host: String) {
        queues.withLock { $0.remove(ticket, from: host) }?.continuation.resume(returning: false)
    }

    private func admit(_ waiter: Waiter, to host: String, in queues: inout Queues) -> Bool {
        if !budget.isFull, queues.hasSlot(at: host, for: waiter.client) {
            queues.start(at: host, for: waiter.client)
            return true
        }
        queues.hosts[host, default: HostQueue()].waiting.append(waiter)
        return false
    }

    private func leave(host: String, client: String) {
        queues.withLock { $0.stop(at: host, for: client) }
        startWaiting()
    }

    /// Gives the free slots to the waiters that are next.
    private func startWaiting() {
        while let next = queues.withLock({ queues -> Waiter? in
            budget.isFull ? nil : queues.popNext()
        }) {
            next.continuation.resume(returning: true)
        }
    }
}

private struct Waiter {
    /// Ascending in order of arrival.
    let ticket: UInt64
    let client: String
    let urgency: @Sendable () -> OriginRequest.Priority
    let continuation: CheckedContinuation<Bool, Never>
}

private struct HostQueue {
    /// The number of running downloads of each client.
    var clients = RunningDownloads()
    /// In order of arrival.
    var waiting: [Waiter] = []
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

private struct Queues {
    private var running = RunningDownloads()
    var hosts: [String: HostQueue] = [:]
    private let downloadsPerHost: Int
    private let maxDownloads: Int
    private let order: DownloadOrder
    private var lastTicket: UInt64 = 0

    init(downloadsPerHost: Int, maxDownloads: Int, order: DownloadOrder) {
        self.downloadsPerHost = downloadsPerHost
        self.maxDownloads = maxDownloads
        self.order = order
    }

    /// Whether a download may start now.
    func hasSlot(at host: String, for client: String) -> Bool {
        let ofHost = hosts[host]?.clients ?? RunningDownloads()
        return running.count < maxDownloads - (running[client] == 0 ? 0 : maxDownloads / 8)
            && ofHost.count < downloadsPerHost - (ofHost[client] == 0 ? 0 : 1)
    }

    mutating func nextTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    mutating func start(at host: String, for client: String) {
        running.start(client)
        hosts[host, default: HostQueue()].clients.start(client)
    }

    mutating func stop(at host: String, for client: String) {
        running.stop(client)
        hosts[host]?.clients.stop(client)
        dropIfIdle(host)
    }

    mutating func remove(_ ticket: UInt64, from host: String) -> Waiter? {
        guard let index = hosts[host]?.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        defer { dropIfIdle(host) }
        return hosts[host]?.waiting.remove(at: index)
    }

    /// Gives a slot to the first waiter that may have one.
    mutating func popNext() -> Waiter? {
        guard running.count < maxDownloads else { return nil }
        var first: (host: String, rank: Rank)?
        for (host, queue) in hosts where queue.clients.count < downloadsPerHost {
            for waiter in queue.waiting where hasSlot(at: host, for: waiter.client) {
                let rank = Rank(of: waiter, running: running[waiter.client], order: order)
                if first.map({ $0.rank < rank }) ?? true { first = (host, rank) }
            }
        }
        guard let first, let waiter = remove(first.rank.ticket, from: first.host) else { return nil }
        start(at: first.host, for: waiter.client)
        return waiter
    }

    private mutating func dropIfIdle(_ host: String) {
        if let queue = hosts[host], queue.clients.count == 0, queue.waiting.isEmpty { hosts[host] = nil }
    }
}

/// The rank of a waiter among all waiters at one moment. The greatest is served first.
private struct Rank: Comparable {
    let ticket: UInt64
    private let priority: OriginRequest.Priority
    private let running: Int
    private let order: DownloadOrder

    init(of waiter: Waiter, running: Int, order: DownloadOrder) {
        ticket = waiter.ticket
        priority = waiter.urgency()
        self.running = running
        self.order = order
    }

    static func < (left: Rank, right: Rank) -> Bool {
        guard left.priority == right.priority else { return left.priority < right.priority }
        guard left.running == right.running else { return left.running > right.running }
        return left.order == .fifo ? left.ticket > right.ticket : left.ticket < right.ticket
    }
}

/// The order in which waiting downloads of equal priority start.
public enum DownloadOrder: String, CaseIterable, Hashable, Sendable {
    /// First in, first out.
    case fifo
    /// Last in, first out: for clients that scroll past what they requested before.
    case lifo
}
