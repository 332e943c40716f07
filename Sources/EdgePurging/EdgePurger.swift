import DarkroomHTTPCaching
import DarkroomWaiting
import Foundation
package import Logging
package import NIOCore
import Synchronization

/// Sends purges to the caches in front of this server, until each has confirmed them.
///
/// Each purge is sent to an edge twice. The first time is when the purge holds on all nodes: before that, the edge
/// would fetch the old image again. The second time is when answers that were in flight at that moment have arrived.
/// Purges that an edge has not confirmed stay in a queue on disk.
package final class EdgePurger: Sendable {
    fileprivate struct State {
        var queue = EdgeQueue()
        var statistics: [String: EdgeStatistics] = [:]
        /// When an edge is tried again after a failure, and how often it has failed in a row.
        var pauses: [String: (until: Date, failures: Int)] = [:]
        var isStopped = false
        /// Whether all waits end at once, because the server stops.
        var endsWaits = false
        /// The purges that callers wait for; nil for a wait that only time ends.
        var waits: [Wait<Void>: Ticket?] = [:]
    }

    /// The longest pause before a request is repeated, even if the edge asks for a longer pause.
    static let maxPause = Duration.seconds(300)
    /// The longest wait of a caller.
    package static let maxWait = Duration.seconds(600)
    /// How long requests may take during shutdown.
    package static let shutdownGrace = Duration.seconds(3)

    let destinations: [EdgeDestination]
    private let everything: String
    private let file: EdgeQueueFile?
    private let transport: any EdgeTransport
    private let secrets = EdgeSecrets()
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let sleepUntil: @Sendable (Date) async throws -> Void
    private let jitter: @Sendable () -> Double
    private let timer: DeadlineTimer
    private let outages: EdgeOutageLog
    private let logger: Logger
    private let wakeups: [String: Wakeup]
    private let closing = Wakeup()
    private let state = Mutex(State())

    /// - Parameters:
    ///   - sleep: returns at a date; nil = by `clock` and `now`.
    ///   - jitter: 0..<1, the position of each pause in its range.
    init(
        _ destinations: [EdgeDestination], everything: String, file: String?, transport: any EdgeTransport,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        sleep: (@Sendable (Date) async throws -> Void)? = nil,
        jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) }, logger: Logger
    ) {
        self.destinations = destinations
        self.everything = everything
        self.file = file.map(EdgeQueueFile.init)
        self.transport = transport
        self.clock = clock
        self.now = now
        sleepUntil =
            sleep ?? { date in
                try await clock.sleep(for: .seconds(max(date.timeIntervalSince(now()), 0.001)))
            }
        self.jitter = jitter
        timer = DeadlineTimer(clock: clock)
        outages = EdgeOutageLog(logger)
        self.logger = logger
        wakeups = Dictionary(destinations.map { ($0.name, Wakeup()) }) { first, _ in first }
        restore()
    }

    /// - Parameters:
    ///   - everything: a tag that all responses have.
    ///   - file: where the queue survives a restart; nil = it does not.
    ///   - eventLoopGroup: runs connections. Not shut down here.
    package convenience init(
        _ destinations: [EdgeDestination], everything: String, file: String?, userAgent: String,
        eventLoopGroup: any EventLoopGroup, logger: Logger
    ) {
        let transport = HTTPEdgeTransport(
            userAgent: userAgent, clock: ContinuousClock(), eventLoopGroup: eventLoopGroup)
        self.init(destinations, everything: everything, file: file, transport: transport, logger: logger)
    }

    private var names: [String] { destinations.map(\.name) }
    private var webhooks: Set<String> { Set(destinations.filter { $0.vendor == .webhook }.map(\.name)) }

    /// Reads the queue of the previous process. If it is damaged, everything is purged at all edges.
    private func restore() {
        guard !destinations.isEmpty, let file else { return }
        state.withLock { state in
            switch file.read() {
            case .missing: break
            case .queue(let queue): state.queue = queue
            case .damaged:
                logger.warning("the queue of purges for edges is damaged: telling them to purge everything")
                let purge = EdgePurge(
                    purgedAt: now(), EdgePurge.Selector(.everything), tags: [everything], isSoft: false)
                _ = state.queue.add(purge, for: names, at: [now()], everything: everything)
            }
            state.queue.adapt(to: names, latest: now().addingTimeInterval(3_600))
        }
    }
}

// MARK: Telling

extension EdgePurger {
    /// A purge that is sent to edges.
    package struct Ticket: Sendable {
        fileprivate let purge: EdgePurge
        fileprivate let sequence: Int
        fileprivate let holdsAt: Date
    }

    /// Queues a purge, and returns once the queue is on disk.
    ///
    /// - Parameters:
    ///   - delay: the time until the purge holds on all nodes.
    ///   - again: the time from then until earlier responses have reached the edges, when the purge is sent again; nil
    ///     = there are no such responses.
    package func tell(_ purge: EdgePurge, after delay: Duration, again: Duration?) async -> Ticket {
        let holdsAt = now().addingTimeInterval(delay / .seconds(1))
        let dates = [holdsAt] + (again.map { [holdsAt.addingTimeInterval($0 / .seconds(1))] } ?? [])
        let ticket = state.withLock { state in
            let sequence = state.queue.add(
                purge, for: names, webhooks: webhooks, at: dates, everything: everything)
            return Ticket(purge: purge, sequence: sequence, holdsAt: holdsAt)
        }
        await save()
        for wakeup in wakeups.values { wakeup.wake() }
        for webhook in webhooks { warnOfLoop(ticket, webhook) }
        return ticket
    }

    private func warnOfLoop(_ ticket: Ticket, _ webhook: String) {
        let entry = state.withLock { $0.queue.pending(ticket.sequence, ticket.purge, for: webhook) }
        guard entry?.repetitions == EdgeQueue.promptRepetitions + 1 else { return }
        logger.warning(
            "a webhook gets the same purge again and again; if its receiver purges, it must send edges=false",
            metadata: ["edge": "\(webhook)"])
    }

    /// The progress of a purge at each edge.
    package func states(of ticket: Ticket) -> [EdgeState] {
        state.withLock { state in
            names.map { edge in
                let entry = state.queue.pending(ticket.sequence, ticket.purge, for: edge)
                return EdgeState(edge: edge, progress: entry == nil ? .told : .pending, reason: entry?.reason)
            }
        }
    }

    /// Waits until a purge holds and all edges have confirmed it.
    ///
    /// Ends earlier if an edge refuses the purge, after ``maxWait``, when the server is about to stop, and when the
    /// task is canceled: the purge then stays in the queue.
    package func wait(for ticket: Ticket) async -> [EdgeState] {
        await wait(for: nil, atMost: .seconds(max(ticket.holdsAt.timeIntervalSince(now()), 0)))
        if !Task.isCancelled { await wait(for: ticket, atMost: Self.maxWait) }
        return states(of: ticket)
    }

    private func wait(for ticket: Ticket?, atMost limit: Duration) async {
        guard limit > .zero else { return }
        let wait = Wait<Void>()
        let isOver = state.withLock { state in
            if state.endsWaits || ticket.map({ isSettled($0, state) }) == true { return true }
            state.waits[wait] = ticket
            return false
        }
        if isOver { return }
        let deadline = Deadline()
        let number = timer.begin(after: limit, deadline.pass)
        defer { timer.end(number) }
        await wait.answer(until: deadline) { [self] in
            if state.withLock({ $0.waits.removeValue(forKey: wait) }) != nil { wait.end(()) }
        }
    }

    /// Whether each edge has confirmed or refused a purge, so that waiting longer would not help.
    private func isSettled(_ ticket: Ticket, _ state: State) -> Bool {
        names.allSatisfy { edge in
            state.queue.pending(ticket.sequence, ticket.purge, for: edge).map { $0.refusals > 0 } ?? true
        }
    }

    private func endSettledWaits() {
        let settled = state.withLock { state in
            let settled = state.waits.filter { $0.value.map { isSettled($0, state) } ?? false }.map(\.key)
            for wait in settled { state.waits[wait] = nil }
            return settled
        }
        for wait in settled { wait.end(()) }
    }

    /// Ends all waits, including later ones, because the server is about to stop.
    package func endWaits() {
        let waits = state.withLock { state in
            state.endsWaits = true
            defer { state.waits = [:] }
            return Array(state.waits.keys)
        }
        for wait in waits { wait.end(()) }
    }

    private func save() async {
        guard !destinations.isEmpty, let file else { return }
        let isSaved = await file.write { [self] in state.withLock(\.queue) }
        outages.record(isSaved, "the queue of purges for edges", reason: "its file cannot be written")
    }
}

// MARK: Delivery

extension EdgePurger {
    /// Tells edges of purges until ``stop()``, and then makes a last attempt at purges that are due.
    package func run() async {
        await deliverUntilStopped()
        await save()
        await transport.shutdown()
    }

    private func deliverUntilStopped() async {
        // Without edges too, the service lasts until it is stopped.
        guard !destinations.isEmpty else { return await closing.wait() }
        await race { [self] in
            await withTaskGroup(of: Void.self) { edges in
                for destination in destinations { edges.addTask { await self.deliver(to: destination) } }
            }
        } against: { [self] in
            await closing.wait()
            try? await clock.sleep(for: Self.shutdownGrace)
        }
    }

    /// Makes ``run()`` return soon.
    package func stop() {
        endWaits()
        state.withLock { $0.isStopped = true }
        closing.wake()
        for wakeup in wakeups.values { wakeup.wake() }
    }

    private func deliver(to destination: EdgeDestination) async {
        guard let wakeup = wakeups[destination.name] else { return }
        while !Task.isCancelled {
            let (step, isStopped) = state.withLock { state in
                (next(for: destination, state), state.isStopped)
            }
            switch step {
            case .send(let batch): await send(batch, to: destination)
            case .idle, .wait:
                if isStopped { return }
                await pause(step, wakeup)
            }
        }
    }

    private func next(for edge: EdgeDestination, _ state: State) -> EdgeQueue.Step {
        let step = state.queue.next(for: edge.name, edge.api, at: now())
        guard case .send = step, let pause = state.pauses[edge.name], pause.until > now() else { return step }
        return .wait(until: pause.until)
    }

    /// Waits until a purge is due or is added.
    private func pause(_ step: EdgeQueue.Step, _ wakeup: Wakeup) async {
        guard case .wait(let date) = step else { return await wakeup.wait() }
        await race { [sleepUntil] in
            try? await sleepUntil(date)
        } against: {
            await wakeup.wait()
        }
    }

    private func send(_ batch: [EdgeQueue.Entry], to destination: EdgeDestination) async {
        let verdict = await verdict(on: batch, to: destination)
        // A canceled request says nothing about the edge, which may even have taken the purge.
        if Task.isCancelled, verdict != .told { return }
        state.withLock { $0.record(verdict, on: batch, of: destination.name, at: now(), jitter: jitter()) }
        outages.record(verdict, destination.name)
        endSettledWaits()
        await save()
    }

    private func verdict(on batch: [EdgeQueue.Entry], to destination: EdgeDestination) async -> EdgeVerdict {
        do throws(EdgeTransportFailure) {
            let message = EdgeMessage(
                purges: batch.map(\.purge), tags: tags(of: batch, destination.api.tagField),
                round: batch.first?.round ?? 1, secret: try await secrets.secret(of: destination), now: now())
            let answer = try await transport.send(destination.request(message))
            return destination.api.verdict(on: answer, now: now())
        } catch {
            return .postponed(reason: error.reason)
        }
    }

    /// The tags of a batch, each once. The tag of all responses takes the place of a tag that the edge cannot have,
    /// because responses had to leave that tag out.
    private func tags(of batch: [EdgeQueue.Entry], _ field: TagField?) -> [String] {
        var seen: Set<String> = []
        return batch.flatMap(\.purge.tags).map { tag in
            field?.accepts(tag) ?? true ? tag : everything
        }.filter { seen.insert($0).inserted }
    }

    package var statistics: [EdgeStatistics] {
        state.withLock { state in
            names.map { edge in
                var statistics = state.statistics[edge] ?? EdgeStatistics(edge: edge)
                let entries = state.queue.entries[edge] ?? []
                statistics.pending = entries.count
                statistics.collapsed = state.queue.collapses[edge] ?? 0
                // A refused purge has a later date, but has been overdue since the first attempt.
                let oldest = entries.filter { $0.dueAt <= now() || $0.reason != nil }.map(\.purge.purgedAt).min()
                statistics.overdueSeconds = max(oldest.map { now().timeIntervalSince($0) } ?? 0, 0)
                return statistics
            }
        }
    }

    /// How often the queue could not be written to its file.
    package var fileFailures: Int { file?.failureCount ?? 0 }
}

extension EdgePurger.State {
    fileprivate mutating func record(
        _ verdict: EdgeVerdict, on batch: [EdgeQueue.Entry], of edge: String, at now: Date, jitter: Double
    ) {
        var statistics = statistics[edge] ?? EdgeStatistics(edge: edge)
        switch verdict {
        case .told:
            queue.remove(batch, of: edge)
            pauses[edge] = nil
            statistics.told += 1
        case .postponed(let delay, let reason):
            let failures = (pauses[edge]?.failures ?? 0) + 1
            let pause = delay.map { max(min($0, EdgePurger.maxPause), .seconds(1)) } ?? Self.backoff(failures, jitter)
            pauses[edge] = (now.addingTimeInterval(pause / .seconds(1)), failures)
            queue.keep(batch, of: edge, because: reason)
            statistics.postponed += 1
        case .refused(let reason):
            queue.keep(batch, of: edge, because: reason) { entry in
                now.addingTimeInterval(Self.backoff(entry.refusals, jitter) / .seconds(1))
            }
            statistics.refused += 1
        }
        self.statistics[edge] = statistics
    }

    /// 1, 2, 4 … seconds, each shortened by up to half.
    private static func backoff(_ failures: Int, _ jitter: Double) -> Duration {
        min(.seconds(1 << min(failures - 1, 10)), EdgePurger.maxPause) * (1 - jitter / 2)
    }
}
