import DarkroomTransforms
import Dispatch
import Foundation
import Logging
import Synchronization

/// The worker processes of a server, one more than its pixel threads. Lends a worker to each job, has workers that die
/// replaced, and quarantines what killed them.
final class WorkerPool: Sendable {
    struct State {
        var table = WorkerTable()
        var quarantine: Quarantine
        /// Counters. Values that follow from the table are filled in by ``WorkerPool/statistics``.
        var statistics = WorkerStatistics()
        /// Killed workers that the supervisor has yet to reap, which takes time in proportion to their memory.
        var dead: [WorkerProcess] = []
        /// Times of the latest deaths, oldest first; at most ``WorkerPool/crashLoopDeaths``.
        var deaths: [ContinuousClock.Instant] = []
        /// Consecutive failed starts, and the earliest time of the next start.
        var failuresInARow = 0
        var nextStart = ContinuousClock.now
        var isClosed = false
    }

    let configuration: WorkerConfiguration
    let logger: Logger
    let wakePipe = WakePipe()
    let sources: SealedSourceCache
    let state: Mutex<State>
    /// Counts idle workers; briefly it may count more.
    let idle = DispatchSemaphore(value: 0)

    init(_ configuration: WorkerConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        sources = SealedSourceCache(capacity: configuration.workers)
        state = Mutex(State(quarantine: Quarantine(duration: configuration.quarantine)))
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

    /// Waits for an idle worker for a job on that source. Returns nil once `interrupt` returns true or the pool is closed.
    func take(for source: String?, interrupt: Interrupt) -> (number: WorkerTable.ID, process: WorkerProcess)? {
        while !isClosed {
            if idle.wait(timeout: .now() + .milliseconds(10)) == .success {
                let taken = state.withLock { state in
                    state.table.take(for: source).flatMap { number in
                        state.table[number].map { (number, $0.process) }
                    }
                }
                if let taken { return taken }
            } else if interrupt() {
                return nil
            }
        }
        return nil
    }

    /// Makes a worker idle again after its reply, once it has handled its deferred requests.
    func release(_ number: WorkerTable.ID, _ decoded: DecodedStatistics) {
        var decoded = decoded
        while let (process, requests) = deferred(of: number, decoded) {
            for request in requests {
                do throws(WorkerCall.Failure) {
                    decoded = try call(process).send(request).reply.decoded
                } catch {
                    return discard(number, error)
                }
            }
        }
        idle.signal()
    }

    /// The deferred requests of a worker; nil if there are none, in which case the worker is idle from now on.
    private func deferred(
        of number: WorkerTable.ID, _ decoded: DecodedStatistics
    ) -> (WorkerProcess, [WorkerRequest])? {
        let entry = state.withLock { $0.table[number] }
        guard let process = entry?.process else { return nil }
        let needsReplacement = process.needsReplacement(
            configuration, jobs: entry?.jobs ?? 0, decodedBytes: decoded.bytes)
        let requests = state.withLock { state in
            state.table.record(decoded, of: number)
            let requests = state.table.takeDeferred(of: number)
            if requests.isEmpty { state.table.release(number, needsReplacement: needsReplacement) }
            return requests
        }
        // Not earlier: the supervisor checks the table when it wakes, then sleeps again.
        if needsReplacement, requests.isEmpty { wakePipe.wake() }
        return requests.isEmpty ? nil : (process, requests)
    }

    /// Kills a worker that must not be used again.
    func discard(_ number: WorkerTable.ID, _ failure: WorkerCall.Failure) {
        let process = state.withLock { state -> WorkerProcess? in
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
        _ process: WorkerProcess, interrupt: @escaping Interrupt = WorkerPool.shortTimeout()
    ) -> WorkerCall {
        WorkerCall(worker: process, configuration: configuration, interrupt: interrupt)
    }

    /// Interrupts after one second: no request other than a job takes that long.
    private static func shortTimeout() -> Interrupt {
        let end = ContinuousClock.now + .seconds(1)
        return { .now > end }
    }

    // MARK: Requests other than jobs

    /// Sends a request to every worker that matches the predicate; busy ones handle it after their job. Returns once the
    /// idle ones have replied.
    func broadcast(_ request: WorkerRequest, where predicate: (WorkerTable.Entry) -> Bool) {
        let numbers = state.withLock { state in
            state.table.deferRequest(request, where: predicate)
            let numbers = state.table.takeAll(where: predicate)
            for number in numbers { state.table.deferRequest(request, to: number) }
            return numbers
        }
        for number in numbers {
            // This worker no longer counts as idle.
            _ = idle.wait(timeout: .now())
            let decoded = state.withLock { $0.table[number]?.decoded }
            release(number, decoded ?? DecodedStatistics())
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

    func liftQuarantine(of subject: Quarantine.Subject) {
        state.withLock { $0.quarantine.remove(subject) }
    }

    // MARK: Health and statistics

    /// Number of deaths within a minute that counts as a crash loop.
    var crashLoopDeaths: Int { 5 * configuration.processes }

    /// Whether at least one worker is ready and workers are not in a crash loop.
    var isHealthy: Bool {
        state.withLock { state in
            let isLooping =
                state.deaths.count >= crashLoopDeaths
                && state.deaths.first.map { $0.duration(to: .now) < .seconds(60) } ?? false
            return state.table.count > 0 && !isLooping
        }
    }

    var decoded: DecodedStatistics { state.withLock { $0.table.decoded } }

    var statistics: WorkerStatistics {
        var (statistics, processes) = state.withLock { state in
            var statistics = state.statistics
            statistics.ready = state.table.count
            statistics.quarantined = state.quarantine.count
            return (statistics, state.table.processes)
        }
        statistics.configured = configuration.processes
        statistics.residentBytes = processes.reduce(0) { $0 + $1.residentBytes }
        return statistics
    }
}

extension WorkerPool.State {
    mutating func recordDeath(_ reason: WorkerStatistics.EndReason, limit: Int) {
        statistics.ended[reason, default: 0] += 1
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
        case .unresponsive: .hung
        }
    }
}

extension WorkerProcess {
    fileprivate func needsReplacement(_ configuration: WorkerConfiguration, jobs: Int, decodedBytes: Int) -> Bool {
        jobs >= configuration.maxJobs || processorSeconds >= Sandbox.processorSeconds / 2
            || residentBytes - decodedBytes >= configuration.recycledBytes
    }
}
