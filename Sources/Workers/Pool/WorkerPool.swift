import DarkroomTransforms
import Dispatch
import Foundation
import Logging
import Synchronization

/// The worker processes of a server, at most one more than its pixel threads. Lends a worker to each job, replaces
/// workers that die, and quarantines the inputs that killed them.
final class WorkerPool: Sendable {
    struct State {
        var table: WorkerTable
        var quarantine: Quarantine
        var penalized = PenalizedClients()
        /// Counters. Values that follow from the table are filled in by ``WorkerPool/statistics``.
        var statistics = WorkerStatistics()
        /// Killed workers that the supervisor has yet to reap, which takes time in proportion to their memory.
        var dead: [ChildProcess] = []
        /// Times of the latest deaths, oldest first; at most ``WorkerPool/crashLoopDeaths``.
        var deaths: [ContinuousClock.Instant] = []
        /// Consecutive failed starts, and the earliest time of the next start.
        var failuresInARow = 0
        var nextStart = ContinuousClock.now
        var isClosed = false
        /// The highest CPU time of all workers that was reported.
        var processorMilliseconds = 0
    }

    let configuration: WorkerConfiguration
    let logger: Logger
    let wakePipe = WakePipe()
    let state: Mutex<State>
    /// Counts idle workers that can take any job; briefly it may count more. Changes together with the table, under its
    /// lock: otherwise the removal of a worker just after its release would remove the count of another worker.
    let idle = DispatchSemaphore(value: 0)
    /// Called whenever the supervisor has checked the workers.
    let didSupervise: @Sendable () -> Void

    init(_ configuration: WorkerConfiguration, logger: Logger, didSupervise: @escaping @Sendable () -> Void) {
        self.configuration = configuration
        self.logger = logger
        self.didSupervise = didSupervise
        state = Mutex(
            State(
                table: WorkerTable(maxJobs: configuration.maxJobs),
                quarantine: Quarantine(duration: configuration.quarantine)))
    }

    /// Kills all workers. Running jobs fail with `.interrupted`.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.dead += state.table.removeAll()
            for process in state.dead { process.kill() }
        }
        wakePipe.wake()
    }

    var isClosed: Bool { state.withLock(\.isClosed) }

    // MARK: Jobs

    /// A worker that a job has to itself.
    struct Lent {
        let number: WorkerTable.ID
        let process: ChildProcess
        /// Whether it has planned the job.
        let isPlanned: Bool
        /// The latest statistics of its cache of decoded images.
        let decoded: DecodedStatistics
    }

    /// Waits for an idle worker for a job on that source. Returns nil once `interrupt` returns true or the pool is
    /// closed.
    func take(for source: String?, planned job: EncodedJob? = nil, interrupt: Interrupt) -> Lent? {
        while !isClosed {
            // A spent worker is not counted, and waits for the job that it has planned.
            let isKept = state.withLock { $0.table.isPlannedLast(job) }
            if isKept || idle.wait(timeout: .now() + .milliseconds(10)) == .success {
                let (lent, isShort) = state.withLock { state -> (Lent?, Bool) in
                    guard let (number, isPlanned) = state.table.take(for: source, planned: job),
                        let entry = state.table[number]
                    else { return (nil, false) }
                    let isShort = state.table.lastingCount < state.table.target(limit: configuration.processes)
                    let lent = Lent(
                        number: number, process: entry.process, isPlanned: isPlanned, decoded: entry.decoded)
                    return (lent, isShort)
                }
                // The next job should not have to wait for a spare.
                if isShort { wakePipe.wake() }
                if let lent { return lent }
            } else if interrupt() {
                return nil
            } else if state.withLock({ $0.table.dropPlanned(limit: configuration.processes) }) {
                wakePipe.wake()
            }
        }
        return nil
    }

    /// Makes a worker idle again after its reply, once it has handled its deferred requests.
    ///
    /// - Parameter job: the job that it has planned and would process at once.
    func release(_ number: WorkerTable.ID, _ decoded: DecodedStatistics, planned job: EncodedJob? = nil) {
        var decoded = decoded
        while let (process, requests) = deferred(of: number, decoded, planned: job) {
            for request in requests {
                do throws(WorkerCall.Failure) {
                    decoded = try call(process).send(request).message.decoded
                } catch {
                    return discard(number, error)
                }
            }
        }
    }

    /// The deferred requests of a worker. Nil without any: the worker is idle from now on.
    private func deferred(
        of number: WorkerTable.ID, _ decoded: DecodedStatistics, planned job: EncodedJob?
    ) -> (ChildProcess, [WorkerRequest])? {
        let entry = state.withLock { $0.table[number] }
        guard let process = entry?.process else { return nil }
        let needsReplacement =
            entry?.needsReplacement ?? false
            || job == nil
                && process.needsReplacement(configuration, jobs: entry?.jobs ?? 0, decodedBytes: decoded.bytes)
        let requests = state.withLock { state in
            state.table.record(decoded, of: number)
            let requests = state.table.takeDeferred(of: number)
            guard requests.isEmpty else { return requests }
            state.table.release(number, needsReplacement: needsReplacement)
            // It would do other jobs as slowly.
            if process.yieldsProcessor { state.table.spend(number) }
            if let job { state.table.record(planned: job, by: number) }
            if state.table[number]?.isSpent == false { idle.signal() }
            return []
        }
        // Not earlier: the supervisor checks the table when it wakes, then sleeps again.
        if needsReplacement, requests.isEmpty { wakePipe.wake() }
        return requests.isEmpty ? nil : (process, requests)
    }

    /// Makes the worker that has planned the job drop it.
    func withdraw(_ job: EncodedJob) {
        // Under the lock: to a worker that is lent by then, the message would be a cancellation.
        let isReplaced = state.withLock { state in
            try? state.table.withdraw(job)?.socket.send(WorkerRequest.drop)
            return state.table.idleReplaceable != nil
        }
        if isReplaced { wakePipe.wake() }
    }

    /// Kills a worker that must not be used again.
    func discard(_ number: WorkerTable.ID, _ failure: WorkerCall.Failure) {
        let process = state.withLock { state -> ChildProcess? in
            guard !state.isClosed, let process = state.table.remove(number) else { return nil }
            process.kill()
            state.dead.append(process)
            state.recordDeath(failure.endReason, limit: crashLoopDeaths)
            return process
        }
        wakePipe.wake()
        guard let process else { return }
        logger.warning(
            "worker discarded", metadata: ["pid": "\(process.identifier)", "reason": "\(failure)"])
    }

    func call(
        _ process: ChildProcess, interrupt: @escaping Interrupt = WorkerPool.shortTimeout(),
        processorBudget: Duration? = nil, isDrawing: @escaping () -> Bool = { false }
    ) -> WorkerCall {
        WorkerCall(
            worker: process, configuration: configuration, interrupt: interrupt, processorBudget: processorBudget,
            isDrawing: isDrawing)
    }

    /// Interrupts after one second: no request other than a job takes that long.
    private static func shortTimeout() -> Interrupt {
        let end = ContinuousClock.now + .seconds(1)
        return { .now > end }
    }

    // MARK: Requests other than jobs

    /// Sends a request to every worker that matches the predicate; busy workers handle it after their job. Returns once
    /// the idle workers have replied.
    func broadcast(_ request: WorkerRequest, where predicate: (WorkerTable.Entry) -> Bool) {
        let numbers = state.withLock { state in
            state.table.deferRequest(request, where: predicate)
            let numbers = state.table.takeAll(where: predicate)
            for number in numbers {
                state.table.deferRequest(request, to: number)
                // This worker no longer counts as idle.
                if state.table[number]?.isSpent == false { _ = idle.wait(timeout: .now()) }
            }
            return numbers
        }
        for number in numbers {
            release(number, state.withLock { $0.table[number]?.decoded } ?? DecodedStatistics())
        }
    }

    // MARK: Quarantine

    /// The error of a quarantined job; nil if the job may be tried.
    func quarantineError(for job: ImageJob) -> ImageProcessingError? {
        state.withLock { state in
            let error = state.quarantine.error(for: job, now: .now)
            if error != nil { state.statistics.refused += 1 }
            return error
        }
    }

    func quarantine(_ subject: Quarantine.Subject?, _ error: ImageProcessingError) {
        guard let subject else { return }
        state.withLock { $0.quarantine.add(subject, error, now: .now) }
    }

    /// Makes the drawings of a client yield to other jobs for some time.
    func penalize(_ client: String) {
        state.withLock { $0.penalized.add(client, until: .now + configuration.drawingPenalty, now: .now) }
    }

    func isPenalized(_ client: String) -> Bool {
        state.withLock { $0.penalized.contains(client, now: .now) }
    }

    func liftQuarantine(of subject: Quarantine.Subject) {
        state.withLock { $0.quarantine.remove(subject) }
    }

    // MARK: Health and statistics

    /// Number of deaths within a minute that counts as a crash loop.
    var crashLoopDeaths: Int { 5 * configuration.processes }

    /// Whether a worker is ready or can be forked at once, and workers are not in a crash loop.
    var isHealthy: Bool {
        state.withLock { state in
            let isLooping =
                state.deaths.count >= crashLoopDeaths
                && state.deaths.first.map { $0.duration(to: .now) < .seconds(60) } ?? false
            return (state.table.count > 0 || state.failuresInARow == 0) && !isLooping
        }
    }

    var decoded: DecodedStatistics { state.withLock { $0.table.decoded } }

    var statistics: WorkerStatistics {
        var (statistics, processes) = state.withLock { state in
            var statistics = state.statistics
            statistics.ready = state.table.count
            statistics.configured = state.table.target(limit: configuration.processes)
            statistics.quarantined = state.quarantine.count
            // The kernel's figures about a process before and after its exit are not from the same clock.
            state.processorMilliseconds = max(state.processorMilliseconds, state.table.processorMilliseconds)
            statistics.processorSeconds = Double(state.processorMilliseconds) / 1000
            return (statistics, state.table.processes)
        }
        statistics.residentBytes = processes.reduce(0) { $0 + $1.residentBytes }
        return statistics
    }
}

extension WorkerPool.State {
    mutating func recordDeath(_ reason: WorkerStatistics.EndReason, limit: Int) {
        statistics.ended[reason, default: 0] += 1
        // Neither the choice of images nor clients that leave must make the server count as broken.
        if reason == .overtime || reason == .hung { return }
        deaths.append(.now)
        if deaths.count > limit { deaths.removeFirst() }
    }
}

extension WorkerCall.Failure {
    var endReason: WorkerStatistics.EndReason {
        switch self {
        case .notSent, .exited: .crashed
        case .protocolViolation: .protocolViolation
        case .memoryExceeded: .memory
        case .overtime: .overtime
        case .unresponsive: .hung
        }
    }
}

extension ChildProcess {
    /// Jobs between two checks of a worker's memory and CPU time. A check costs several system calls. A long job is
    /// watched while it runs.
    private static let jobsPerCheck = 8

    fileprivate func needsReplacement(_ configuration: WorkerConfiguration, jobs: Int, decodedBytes: Int) -> Bool {
        if jobs >= configuration.maxJobs || yieldsProcessor { return true }
        guard jobs % Self.jobsPerCheck == 1 else { return false }
        return processorMilliseconds / 1000 >= Sandbox.processorSeconds / 2
            || residentBytes - decodedBytes >= configuration.recycledBytes
    }
}

/// The pool's interface for the ``Supervisor``.
extension WorkerPool {
    /// The number of workers to start now, besides workers that are starting, and when to check again.
    ///
    /// - Returns: nil once the pool is closed.
    func shortfall(starting: Int) -> (count: Int, until: ContinuousClock.Instant?)? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            // A worker that is due for replacement stays until another worker is ready.
            let missing = max(0, target(state) - state.table.lastingCount - starting)
            if missing > 0, state.nextStart > .now { return (0, state.nextStart) }
            return (missing, state.table.count > 1 ? .now + configuration.idleTimeout : nil)
        }
    }

    /// Adds a worker that is ready. Returns false if strict isolation forbids its use.
    func add(_ process: ChildProcess, _ layers: [IsolationLayer]) -> Bool {
        let missing = IsolationLayer.allCases.filter { !layers.contains($0) }
        guard configuration.isolation != .strict || missing.isEmpty else {
            recordFailedStart(.missingLayers(missing))
            return false
        }
        state.withLock { state in
            state.table.add(process)
            state.statistics.started += 1
            state.failuresInARow = 0
            idle.signal()
        }
        return true
    }

    /// Records a failed start and delays the next start, longer after each failure in a row: 100 ms, doubled, at most 5
    /// s.
    func recordFailedStart(_ error: WorkerStartError) {
        logger.error("worker failed to start", metadata: ["reason": "\(error)"])
        state.withLock { state in
            state.statistics.failedStarts += 1
            state.failuresInARow += 1
            state.nextStart = .now + .milliseconds(min(100 << min(state.failuresInARow, 6), 5_000))
        }
    }

    /// Removes idle workers that have exited, are due for replacement or not needed. Reaps killed workers.
    func reap() {
        let (exited, killed) = state.withLock { state in
            let exited = state.table.removeExited()
            for worker in exited {
                state.recordDeath(.crashed, limit: crashLoopDeaths)
                if !worker.isSpent { _ = idle.wait(timeout: .now()) }
            }
            var killed = state.dead
            state.dead = []
            while let process = retire(&state) { killed.append(process) }
            return (exited, killed)
        }
        for worker in exited {
            logger.warning(
                "an idle worker exited",
                metadata: ["pid": "\(worker.process.identifier)", "reason": "\(worker.process.terminate())"])
        }
        // Releasing the last references kills and reaps the processes here, outside the lock.
        _ = consume killed
        didSupervise()
    }

    /// Removes an idle worker that is due for replacement or is no longer needed.
    private func retire(_ state: inout State) -> ChildProcess? {
        let lasting = state.table.lastingCount
        let replaceable = lasting >= target(state) ? state.table.idleReplaceable : nil
        let unused = lasting > target(state) ? state.table.unused(since: .now - configuration.idleTimeout) : nil
        guard let number = replaceable ?? unused, let entry = state.table[number] else { return nil }
        state.table.remove(number)
        state.statistics.ended[replaceable == nil ? .idle : .recycled, default: 0] += 1
        if !entry.isSpent { _ = idle.wait(timeout: .now()) }
        return entry.process
    }

    private func target(_ state: borrowing State) -> Int { state.table.target(limit: configuration.processes) }

    /// All workers that are idle or busy.
    var processes: [ChildProcess] { state.withLock { $0.table.processes } }
}
