import DarkroomTransforms
import Dispatch
import Foundation
import Logging
import Synchronization

/// The workers of a server, one more than its pixel threads: lends one to each job, has those that die replaced, and knows what
/// killed them.
final class WorkerPool: Sendable {
    struct State {
        var roster = Roster()
        var quarantine: Quarantine
        /// The counters of it; what can be read off the roster is filled in on the way out.
        var statistics = WorkerStatistics()
        /// Killed, and still to be reaped, which the supervisor does: that may take as long as their memory is large.
        var dead: [WorkerProcess] = []
        /// When the latest workers died, oldest first, as many as a crash loop takes.
        var deaths: [ContinuousClock.Instant] = []
        /// Starts that failed since the last that did not, and when the next one may be.
        var failuresInARow = 0
        var nextStart = ContinuousClock.now
        var isClosed = false
    }

    let configuration: WorkerConfiguration
    let logger: Logger
    let bell = Bell()
    let sources: SealedSources
    let state: Mutex<State>
    /// As many signals as there are idle workers, or more for a moment.
    let idle = DispatchSemaphore(value: 0)

    init(_ configuration: WorkerConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        sources = SealedSources(capacity: configuration.workers)
        state = Mutex(State(quarantine: Quarantine(duration: configuration.quarantine)))
    }

    /// Kills all workers. Jobs under way end with `.interrupted`.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.dead += state.roster.removeAll()
            for process in state.dead { process.kill() }
        }
        bell.ring()
    }

    var isClosed: Bool { state.withLock(\.isClosed) }

    // MARK: Jobs

    /// A worker for a job on that source. Waits for one, and gives nil once `interrupt` says so.
    func take(for source: String?, interrupt: Interrupt) -> (number: Roster.Number, process: WorkerProcess)? {
        while !isClosed {
            if idle.wait(timeout: .now() + .milliseconds(10)) == .success {
                let taken = state.withLock { state in
                    state.roster.take(for: source).flatMap { number in
                        state.roster[number].map { (number, $0.process) }
                    }
                }
                if let taken { return taken }
            } else if interrupt() {
                return nil
            }
        }
        return nil
    }

    /// The worker has answered. It is idle again once it has done what was postponed.
    func giveBack(_ number: Roster.Number, _ decoded: DecodedStatistics) {
        var decoded = decoded
        while let (process, requests) = postponed(of: number, decoded) {
            for request in requests {
                do throws(Conversation.Loss) {
                    decoded = try converse(with: process).ask(request).reply.decoded
                } catch {
                    return lose(number, error)
                }
            }
        }
        idle.signal()
    }

    /// Nil = there is nothing to do, and the worker is idle from now on.
    private func postponed(
        of number: Roster.Number, _ decoded: DecodedStatistics
    ) -> (WorkerProcess, [WorkerRequest])? {
        let member = state.withLock { $0.roster[number] }
        guard let process = member?.process else { return nil }
        let isWornOut = process.isWornOut(configuration, jobs: member?.jobs ?? 0, decodedBytes: decoded.bytes)
        let requests = state.withLock { state in
            state.roster.note(decoded, of: number)
            let requests = state.roster.takePostponed(of: number)
            if requests.isEmpty { state.roster.giveBack(number, isWornOut: isWornOut) }
            return requests
        }
        // Not before: the supervisor looks at what is there when it wakes, and sleeps again.
        if isWornOut, requests.isEmpty { bell.ring() }
        return requests.isEmpty ? nil : (process, requests)
    }

    /// The worker is of no further use.
    func lose(_ number: Roster.Number, _ loss: Conversation.Loss) {
        let process = state.withLock { state -> WorkerProcess? in
            guard !state.isClosed, let process = state.roster.remove(number) else { return nil }
            process.kill()
            state.dead.append(process)
            state.noteDeath(loss.end, limit: deathsOfALoop)
            return process
        }
        bell.ring()
        guard let process else { return }
        logger.warning(
            "a worker was lost", metadata: ["pid": "\(process.identifier)", "reason": "\(loss)"])
    }

    func converse(
        with process: WorkerProcess, interrupt: @escaping Interrupt = WorkerPool.patience()
    ) -> Conversation {
        Conversation(worker: process, configuration: configuration, interrupt: interrupt)
    }

    /// Says so after a second: no request but a job takes as long.
    private static func patience() -> Interrupt {
        let end = ContinuousClock.now + .seconds(1)
        return { .now > end }
    }

    // MARK: Requests that are no jobs

    /// Has each worker for which that holds do it, those that are busy after their job. Returns once the idle ones have.
    func tell(_ request: WorkerRequest, where isMeant: (Roster.Member) -> Bool) {
        let numbers = state.withLock { state in
            state.roster.postpone(request, where: isMeant)
            let numbers = state.roster.takeAll(where: isMeant)
            for number in numbers { state.roster.postpone(request, to: number) }
            return numbers
        }
        for number in numbers {
            // Its signal is ours now.
            _ = idle.wait(timeout: .now())
            let decoded = state.withLock { $0.roster[number]?.decoded }
            giveBack(number, decoded ?? DecodedStatistics())
        }
    }

    // MARK: Quarantine

    /// The error to answer the job with at once; nil = it may be tried.
    func verdict(on job: ImageJob) -> ImageProcessingError? {
        state.withLock { state in
            let verdict = state.quarantine.verdict(on: job, now: .now)
            if verdict != nil { state.statistics.refused += 1 }
            return verdict
        }
    }

    func note(_ subject: Quarantine.Subject?, _ verdict: ImageProcessingError) {
        guard let subject else { return }
        state.withLock { $0.quarantine.note(subject, verdict, now: .now) }
    }

    func release(_ subject: Quarantine.Subject) {
        state.withLock { $0.quarantine.release(subject) }
    }

    // MARK: How they are

    /// Deaths within a minute that make a crash loop.
    var deathsOfALoop: Int { 5 * configuration.processes }

    /// Whether some worker is there, and they don't die faster than jobs alone explain.
    var isHealthy: Bool {
        state.withLock { state in
            let isLooping =
                state.deaths.count >= deathsOfALoop
                && state.deaths.first.map { $0.duration(to: .now) < .seconds(60) } ?? false
            return state.roster.count > 0 && !isLooping
        }
    }

    var decoded: DecodedStatistics { state.withLock { $0.roster.decoded } }

    var statistics: WorkerStatistics {
        var (statistics, processes) = state.withLock { state in
            var statistics = state.statistics
            statistics.ready = state.roster.count
            statistics.quarantined = state.quarantine.count
            return (statistics, state.roster.processes)
        }
        statistics.configured = configuration.processes
        statistics.residentBytes = processes.reduce(0) { $0 + $1.residentBytes }
        return statistics
    }
}

extension WorkerPool.State {
    mutating func noteDeath(_ end: WorkerStatistics.EndReason, limit: Int) {
        statistics.ended[end, default: 0] += 1
        deaths.append(.now)
        if deaths.count > limit { deaths.removeFirst() }
    }
}

extension Conversation.Loss {
    var end: WorkerStatistics.EndReason {
        switch self {
        case .unreached, .ended: .crashed
        case .garbled: .garbled
        case .tooMuchMemory: .memory
        case .unresponsive: .hung
        }
    }
}

extension WorkerProcess {
    fileprivate func isWornOut(_ configuration: WorkerConfiguration, jobs: Int, decodedBytes: Int) -> Bool {
        jobs >= configuration.maxJobs || processorSeconds >= Sandbox.processorSeconds / 2
            || residentBytes - decodedBytes >= configuration.recycledBytes
    }
}
