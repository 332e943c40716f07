import Foundation
import Logging
import Synchronization

/// What the supervisor asks of the pool.
extension WorkerPool {
    /// How many workers have to be started now beside those that are starting, and when to look again; nil = the pool is closed.
    func missing(beside starting: Int) -> (count: Int, until: ContinuousClock.Instant?)? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            // A worn-out worker stays until there is another.
            let wanted = configuration.processes + (state.roster.hasWornOut ? 1 : 0)
            let missing = max(0, wanted - state.roster.count - starting)
            guard missing > 0, state.nextStart > .now else { return (missing, nil) }
            return (0, state.nextStart)
        }
    }

    /// A worker is ready. False where it may not be used.
    func admit(_ process: WorkerProcess, _ layers: [IsolationLayer]) -> Bool {
        let lacking = IsolationLayer.allCases.filter { !layers.contains($0) }
        guard configuration.isolation != .strict || lacking.isEmpty else {
            fail(.missingLayers(lacking))
            return false
        }
        state.withLock { state in
            state.roster.add(process)
            state.statistics.started += 1
            state.failuresInARow = 0
        }
        idle.signal()
        return true
    }

    /// A start came to nothing: the next one waits, longer each time.
    func fail(_ error: WorkerStartError) {
        logger.error("a worker did not start", metadata: ["reason": "\(error)"])
        state.withLock { state in
            state.statistics.failedStarts += 1
            state.failuresInARow += 1
            state.nextStart = .now + .milliseconds(min(100 << min(state.failuresInARow, 6), 5_000))
        }
    }

    /// Takes out idle workers that have ended, and one that is worn out where there is another for it. Reaps the dead.
    func tidy() {
        let (ended, others) = state.withLock { state in
            let ended = state.roster.removeEnded()
            for _ in ended { state.noteDeath(.crashed, limit: deathsOfALoop) }
            defer { state.dead = [] }
            return (ended, state.dead + retire(&state))
        }
        for process in ended {
            logger.warning(
                "an idle worker ended",
                metadata: ["pid": "\(process.identifier)", "reason": "\(process.end())"])
            _ = idle.wait(timeout: .now())
        }
        // They are killed and reaped here, by the last reference to each, and not under the lock.
        _ = consume others
    }

    private func retire(_ state: inout State) -> [WorkerProcess] {
        guard state.roster.count > configuration.processes, let number = state.roster.wornOut,
            let process = state.roster.remove(number)
        else { return [] }
        state.statistics.ended[.recycled, default: 0] += 1
        _ = idle.wait(timeout: .now())
        return [process]
    }

    /// Those that may end.
    var processes: [WorkerProcess] { state.withLock { $0.roster.processes } }
}
