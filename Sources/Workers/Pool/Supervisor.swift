import Foundation
import Logging
import Synchronization

/// The thread that starts workers and watches them exit. It lives as long as the pool, because the kernel kills workers
/// when the thread that started them exits.
final class Supervisor: Sendable {
    private struct StartingWorker {
        let process: ChildProcess
        let deadline: ContinuousClock.Instant
    }

    /// Maximum time from start to readiness.
    private static let startTimeout = Duration.seconds(30)

    private let pool: WorkerPool
    private let launcher: any WorkerLauncher
    /// Called once, when the first worker is ready or has failed to start.
    private let onFirst: @Sendable (Result<[IsolationLayer], WorkerStartError>) -> Void

    init(
        _ pool: WorkerPool, _ launcher: any WorkerLauncher,
        onFirst: @escaping @Sendable (Result<[IsolationLayer], WorkerStartError>) -> Void
    ) {
        self.pool = pool
        self.launcher = launcher
        self.onFirst = onFirst
    }

    func start() {
        let thread = Thread { [self] in supervise() }
        thread.name = "darkroom-workers"
        thread.start()
    }

    private func supervise() {
        var starting: [StartingWorker] = []
        var first: Result<[IsolationLayer], WorkerStartError>?
        func report(_ result: Result<[IsolationLayer], WorkerStartError>) {
            if first == nil { onFirst(result) }
            first = first ?? result
        }
        while let (count, until) = pool.shortfall(starting: starting.count) {
            for _ in 0..<count {
                do throws(WorkerStartError) { starting.append(try started()) } catch {
                    pool.recordFailedStart(error)
                    report(.failure(error))
                    break
                }
            }
            if count == 0 || !starting.isEmpty { wait(for: starting, until: until) }
            starting.removeAll { candidate in
                guard let outcome = outcome(of: candidate) else { return false }
                report(outcome)
                return true
            }
            pool.reap()
        }
        pool.reap()
    }

    private func started() throws(WorkerStartError) -> StartingWorker {
        StartingWorker(
            process: try ChildProcess.starting(launcher.launch), deadline: .now + Self.startTimeout)
    }

    /// Sleeps until a worker is ready or exits, the pool wakes this thread, or the deadline passes.
    private func wait(for starting: [StartingWorker], until: ContinuousClock.Instant?) {
        // Busy workers too: one may become idle and exit before this thread wakes again.
        let processes = pool.processes
        var entries = [pool.wakePipe.descriptor, launcher.lossDescriptor].map { descriptor in
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        }
        entries += starting.map { pollfd(fd: $0.process.socket.descriptor, events: Int16(POLLIN), revents: 0) }
        entries += processes.map { pollfd(fd: $0.exitDescriptor, events: Int16(POLLIN), revents: 0) }
        let deadline = (starting.map(\.deadline) + [until].compactMap { $0 }).min()
        let milliseconds = deadline.map { max(0, ContinuousClock.now.duration(to: $0) / .milliseconds(1)).rounded(.up) }
        // Keeps the descriptors open while they are polled.
        withExtendedLifetime(processes) { _ = poll(&entries, nfds_t(entries.count), Int32(milliseconds ?? -1)) }
        pool.wakePipe.drain()
        if entries[1].revents != 0 { renew() }
    }

    /// Replaces a zygote that has exited before the next worker is needed.
    private func renew() {
        pool.logger.warning("the process that workers are forked from exited")
        do { try launcher.renew() } catch { pool.recordFailedStart(error) }
    }

    /// The result of a start; nil while the worker is still starting.
    private func outcome(of candidate: StartingWorker) -> Result<[IsolationLayer], WorkerStartError>? {
        let process = candidate.process
        switch process.socket.wait(milliseconds: 0) {
        case .nothing where candidate.deadline > .now: return nil
        case .nothing: return failure(.failed("it was not ready after \(Self.startTimeout)"))
        case .closed: return failure(.failed("\(process.terminate())"))
        case .message:
            guard let hello = try? process.socket.receive(WorkerHello.self).message else {
                return failure(.failed("\(process.terminate())"))
            }
            if pool.add(process, hello.layers) { return .success(hello.layers) }
            return .failure(.missingLayers(IsolationLayer.allCases.filter { !hello.layers.contains($0) }))
        }
    }

    private func failure(_ error: WorkerStartError) -> Result<[IsolationLayer], WorkerStartError> {
        pool.recordFailedStart(error)
        return .failure(error)
    }
}

/// A self-pipe that wakes a thread blocked in `poll(2)`.
final class WakePipe: Sendable {
    private let pipe = Pipe()
    private let hasPendingByte = Atomic(false)

    /// Readable from the first ``wake()`` until ``drain()``.
    var descriptor: Int32 { pipe.fileHandleForReading.fileDescriptor }

    var isSignaled: Bool { hasPendingByte.load(ordering: .acquiring) }

    /// Never blocks: the pipe holds at most one byte.
    func wake() {
        guard !hasPendingByte.exchange(true, ordering: .acquiringAndReleasing) else { return }
        _ = write(pipe.fileHandleForWriting.fileDescriptor, [1], 1)
    }

    /// Clears the pending wake-up. Call it before looking for work, so that no wake-up is lost.
    func drain() {
        var byte: UInt8 = 0
        guard isSignaled else { return }
        _ = read(descriptor, &byte, 1)
        hasPendingByte.store(false, ordering: .releasing)
    }
}
