import Synchronization

/// Bounds how many downloads run at once, over all and per host. Whoever finds no slot waits in line: higher priority
/// first, then first come, first served. A host that is full never holds up another host's downloads.
final class DownloadGate: Sendable {
    private let lines: Mutex<Lines>
    private let downloadsPerHost: Int
    private let maxDownloads: Int

    init(downloadsPerHost: Int, maxDownloads: Int) {
        self.downloadsPerHost = max(1, downloadsPerHost)
        self.maxDownloads = max(1, maxDownloads)
        lines = Mutex(Lines())
    }

    /// Runs `body` while holding a slot. Waiting ends with ``OriginError/cancelled`` when the task is cancelled.
    func withSlot<Value>(
        host: String, priority: OriginRequest.Priority, _ body: () async throws(OriginError) -> Value
    ) async throws(OriginError) -> Value {
        guard await enter(host: host, priority: priority) else { throw .cancelled }
        defer { leave(host: host) }
        return try await body()
    }

    /// How many downloads wait for a slot.
    var waitingCount: Int {
        lines.withLock { $0.hosts.values.reduce(0) { $0 + $1.waiting.count } }
    }

    private func enter(host: String, priority: OriginRequest.Priority) async -> Bool {
        let ticket = lines.withLock { $0.nextTicket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(ticket: ticket, priority: priority, continuation: continuation)
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
        if lines.running < maxDownloads, lines.hosts[host, default: Line()].running < downloadsPerHost {
            lines.start(at: host)
            return true
        }
        lines.hosts[host, default: Line()].insert(waiter)
        return false
    }

    private func leave(host: String) {
        let next = lines.withLock { lines in
            lines.stop(at: host)
            return lines.popNext(downloadsPerHost: downloadsPerHost)
        }
        next?.continuation.resume(returning: true)
    }
}

private struct Waiter {
    let ticket: UInt64
    let priority: OriginRequest.Priority
    let continuation: CheckedContinuation<Bool, Never>

    func goesBefore(_ other: Waiter) -> Bool {
        (priority.rawValue, other.ticket) > (other.priority.rawValue, ticket)
    }
}

private struct Line {
    var running = 0
    /// In the order of being served.
    var waiting: [Waiter] = []

    mutating func insert(_ waiter: Waiter) {
        let index = waiting.lastIndex { !waiter.goesBefore($0) }.map { $0 + 1 } ?? 0
        waiting.insert(waiter, at: index)
    }
}

private struct Lines {
    var running = 0
    var hosts: [String: Line] = [:]
    private var lastTicket: UInt64 = 0

    mutating func nextTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    mutating func start(at host: String) {
        running += 1
        hosts[host, default: Line()].running += 1
    }

    mutating func stop(at host: String) {
        running -= 1
        hosts[host]?.running -= 1
        dropIfIdle(host)
    }

    mutating func remove(_ ticket: UInt64, from host: String) -> Waiter? {
        guard let index = hosts[host]?.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        defer { dropIfIdle(host) }
        return hosts[host]?.waiting.remove(at: index)
    }

    /// Gives the slot that just came free to the first in line of all hosts that may start another download.
    mutating func popNext(downloadsPerHost: Int) -> Waiter? {
        var first: (host: String, waiter: Waiter)?
        for (host, line) in hosts where line.running < downloadsPerHost {
            guard let waiter = line.waiting.first else { continue }
            if first.map({ waiter.goesBefore($0.waiter) }) ?? true { first = (host, waiter) }
        }
        guard let first else { return nil }
        hosts[first.host]?.waiting.removeFirst()
        start(at: first.host)
        return first.waiter
    }

    private mutating func dropIfIdle(_ host: String) {
        if let line = hosts[host], line.running == 0, line.waiting.isEmpty { hosts[host] = nil }
    }
}
