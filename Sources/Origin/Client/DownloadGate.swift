import Synchronization

/// Bounds how many downloads run at once, over all and per host. Whoever finds no slot waits in line. A slot that comes
/// free goes to the highest priority at that moment, among equals to the client with the fewest downloads, and then by
/// ``DownloadOrder``. A host that is full never holds up another host's downloads. While the bytes in flight are as many as may be,
/// nobody new is let in.
final class DownloadLimiter: Sendable {
    private let lines: Mutex<Lines>
    private let downloadsPerHost: Int
    private let maxDownloads: Int
    private let bytes: InFlightByteBudget

    init(
        downloadsPerHost: Int, maxDownloads: Int, order: DownloadOrder = .fifo,
        bytes: InFlightByteBudget = InFlightByteBudget(budgetBytes: .max)
    ) {
        self.downloadsPerHost = max(1, downloadsPerHost)
        self.maxDownloads = max(1, maxDownloads)
        self.bytes = bytes
        lines = Mutex(Lines(order: order))
        bytes.whenRoom { [weak self] in self?.letIn() }
    }

    /// Runs `body` while holding a slot. Waiting ends with ``OriginError/cancelled`` when the task is cancelled.
    ///
    /// - Parameter urgency: the priority as it is now; asked under the gate's lock.
    func withSlot<Value>(
        host: String, client: String = "", urgency: @escaping @Sendable () -> OriginRequest.Priority,
        _ body: () async throws(OriginError) -> Value
    ) async throws(OriginError) -> Value {
        guard await enter(host: host, client: client, urgency: urgency) else { throw .cancelled }
        defer { leave(host: host, client: client) }
        return try await body()
    }

    /// How many downloads wait for a slot.
    var waitingCount: Int {
        lines.withLock { $0.hosts.values.reduce(0) { $0 + $1.waiting.count } }
    }

    private func enter(
        host: String, client: String, urgency: @escaping @Sendable () -> OriginRequest.Priority
    ) async -> Bool {
        let ticket = lines.withLock { $0.nextTicket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(
                    ticket: ticket, client: client, urgency: urgency, continuation: continuation)
                let answer: Bool? = lines.withLock {
                    // Cancelled before the waiter stood in line: the handler below found nobody to call.
                    if Task.isCancelled { return false }
                    return self.admit(waiter, to: host, in: &$0) ? true : nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            lines.withLock { $0.remove(ticket, from: host) }?.continuation.resume(returning: false)
        }
    }

    private func admit(_ waiter: Waiter, to host: String, in lines: inout Lines) -> Bool {
        if lines.running < maxDownloads, lines.hosts[host, default: Line()].running < downloadsPerHost, !bytes.isFull {
            lines.start(at: host, for: waiter.client)
            return true
        }
        lines.hosts[host, default: Line()].waiting.append(waiter)
        return false
    }

    private func leave(host: String, client: String) {
        lines.withLock { $0.stop(at: host, for: client) }
        letIn()
    }

    /// Gives what slots there are to those who are first in line.
    private func letIn() {
        while let next = lines.withLock({ lines -> Waiter? in
            guard lines.running < maxDownloads, !bytes.isFull else { return nil }
            return lines.popNext(downloadsPerHost: downloadsPerHost)
        }) {
            next.continuation.resume(returning: true)
        }
    }
}

private struct Waiter {
    /// Later comers have higher ones.
    let ticket: UInt64
    let client: String
    let urgency: @Sendable () -> OriginRequest.Priority
    let continuation: CheckedContinuation<Bool, Never>
}

private struct Line {
    var running = 0
    /// In order of arrival.
    var waiting: [Waiter] = []
}

private struct Lines {
    var running = 0
    var hosts: [String: Line] = [:]
    /// How many downloads each client has under way.
    private var clients: [String: Int] = [:]
    private let order: DownloadOrder
    private var lastTicket: UInt64 = 0

    init(order: DownloadOrder) {
        self.order = order
    }

    mutating func nextTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    mutating func start(at host: String, for client: String) {
        running += 1
        hosts[host, default: Line()].running += 1
        clients[client, default: 0] += 1
    }

    mutating func stop(at host: String, for client: String) {
        running -= 1
        hosts[host]?.running -= 1
        clients[client] = clients[client].flatMap { $0 > 1 ? $0 - 1 : nil }
        dropIfIdle(host)
    }

    mutating func remove(_ ticket: UInt64, from host: String) -> Waiter? {
        guard let index = hosts[host]?.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        defer { dropIfIdle(host) }
        return hosts[host]?.waiting.remove(at: index)
    }

    /// Gives a slot to the first in line of all hosts that may start another download.
    mutating func popNext(downloadsPerHost: Int) -> Waiter? {
        var first: (host: String, place: Place)?
        for (host, line) in hosts where line.running < downloadsPerHost {
            for waiter in line.waiting {
                let place = Place(of: waiter, underWay: clients[waiter.client] ?? 0, order: order)
                if first.map({ $0.place < place }) ?? true { first = (host, place) }
            }
        }
        guard let first, let waiter = remove(first.place.ticket, from: first.host) else { return nil }
        start(at: first.host, for: waiter.client)
        return waiter
    }

    private mutating func dropIfIdle(_ host: String) {
        if let line = hosts[host], line.running == 0, line.waiting.isEmpty { hosts[host] = nil }
    }
}

/// Where a waiter stands among all others at one moment; the greatest is served.
private struct Place: Comparable {
    let ticket: UInt64
    private let priority: OriginRequest.Priority
    private let underWay: Int
    private let order: DownloadOrder

    init(of waiter: Waiter, underWay: Int, order: DownloadOrder) {
        ticket = waiter.ticket
        priority = waiter.urgency()
        self.underWay = underWay
        self.order = order
    }

    static func < (left: Place, right: Place) -> Bool {
        guard left.priority == right.priority else { return left.priority < right.priority }
        guard left.underWay == right.underWay else { return left.underWay > right.underWay }
        return left.order == .fifo ? left.ticket > right.ticket : left.ticket < right.ticket
    }
}
