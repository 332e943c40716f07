import Foundation
import Logging
import Synchronization

/// The pool's interface for the ``Supervisor``.
extension WorkerPool {
    /// The number of workers to start now, in addition to those already starting, and when to check again.
    ///
    /// - Returns: nil once the pool is closed.
    func shortfall(starting: Int) -> (count: Int, until: ContinuousClock.Instant?)? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            // A worker that is due for replacement stays until another one is ready.
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
        }
        idle.signal()
        return true
    }

    /// Records a failed start and delays the next one, longer after each failure in a row: 100 ms, doubled, at most 5
    /// s.
    func recordFailedStart(_ error: WorkerStartError) {
        logger.error("worker failed to start", metadata: ["reason": "\(error)"])
        state.withLock { state in
            state.statistics.failedStarts += 1
            state.failuresInARow += 1
            state.nextStart = .now + .milliseconds(min(100 << min(state.failuresInARow, 6), 5_000))
        }
    }

    /// Removes idle workers that have exited, and one that is due for replacement or not needed. Reaps killed workers.
    func reap() {
        let (exited, killed) = state.withLock { state in
            let exited = state.table.removeExited()
            for _ in exited { state.recordDeath(.crashed, limit: crashLoopDeaths) }
            defer { state.dead = [] }
            return (exited, state.dead + retire(&state))
        }
        for process in exited {
            logger.warning(
                "an idle worker exited",
                metadata: ["pid": "\(process.identifier)", "reason": "\(process.terminate())"])
            _ = idle.wait(timeout: .now())
        }
        // Releasing the last references kills and reaps the processes here, outside the lock.
        _ = consume killed
        didSupervise()
    }

    /// Removes an idle worker that is due for replacement or is no longer needed.
    private func retire(_ state: inout State) -> [ChildProcess] {
        let lasting = state.table.lastingCount
        let replaceable = lasting >= target(state) ? state.table.idleReplaceable : nil
        let unused = lasting > target(state) ? state.table.unused(since: .now - configuration.idleTimeout) : nil
        guard let number = replaceable ?? unused, let process = state.table.remove(number) else { return [] }
        state.statistics.ended[replaceable == nil ? .idle : .recycled, default: 0] += 1
        _ = idle.wait(timeout: .now())
        return [process]
    }

    private func target(_ state: borrowing State) -> Int { state.table.target(limit: configuration.processes) }

    /// All workers that are idle or busy.
    var processes: [ChildProcess] { state.withLock { $0.table.processes } }
}
