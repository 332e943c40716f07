import Foundation
import Logging

/// The thread that starts workers and sees them end. It lives as long as the pool: the kernel kills workers with the thread that
/// started them.
final class Supervisor: Sendable {
    private struct Starting {
        let process: WorkerProcess
        let deadline: ContinuousClock.Instant
    }

    /// How long a worker may take until it is ready.
    private static let patience = Duration.seconds(30)

    private let pool: WorkerPool
    /// Called once, when the first worker is ready or has failed.
    private let onFirst: @Sendable (Result<[IsolationLayer], WorkerStartError>) -> Void

    init(
        _ pool: WorkerPool, onFirst: @escaping @Sendable (Result<[IsolationLayer], WorkerStartError>) -> Void
    ) {
        self.pool = pool
        self.onFirst = onFirst
    }

    func start() {
        let thread = Thread { [self] in supervise() }
        thread.name = "darkroom-workers"
        thread.start()
    }

    private func supervise() {
        var starting: [Starting] = []
        var first: Result<[IsolationLayer], WorkerStartError>?
        func report(_ result: Result<[IsolationLayer], WorkerStartError>) {
            if first == nil { onFirst(result) }
            first = first ?? result
        }
        while let (count, until) = pool.missing(beside: starting.count) {
            for _ in 0..<count {
                do throws(WorkerStartError) { starting.append(try started()) } catch {
                    pool.fail(error)
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
            pool.tidy()
        }
        pool.tidy()
    }

    private func started() throws(WorkerStartError) -> Starting {
        do {
            return Starting(process: try WorkerProcess(pool.configuration), deadline: .now + Self.patience)
        } catch .system(ENOSYS) {
            throw .unsupported
        } catch {
            throw .failed("\(error)")
        }
    }

    /// Sleeps until a worker is ready or has ended, or the bell rings.
    private func wait(for starting: [Starting], until: ContinuousClock.Instant?) {
        // The busy ones too: one may be idle, and end, before this thread wakes again.
        let processes = pool.processes
        var entries = [pollfd(fd: pool.bell.descriptor, events: Int16(POLLIN), revents: 0)]
        entries += starting.map { pollfd(fd: $0.process.socket.descriptor, events: Int16(POLLIN), revents: 0) }
        entries += processes.map { pollfd(fd: $0.ended, events: Int16(POLLIN), revents: 0) }
        let deadline = (starting.map(\.deadline) + [until].compactMap { $0 }).min()
        let milliseconds = deadline.map { max(0, ContinuousClock.now.duration(to: $0) / .milliseconds(1)).rounded(.up) }
        // Whoever is waited for stays open until then.
        withExtendedLifetime(processes) { _ = poll(&entries, nfds_t(entries.count), Int32(milliseconds ?? -1)) }
        pool.bell.silence()
    }

    /// Nil = it is still starting.
    private func outcome(of candidate: Starting) -> Result<[IsolationLayer], WorkerStartError>? {
        let process = candidate.process
        switch process.socket.wait(milliseconds: 0) {
        case .nothing where candidate.deadline > .now: return nil
        case .nothing: return failed(.failed("it was not ready after \(Self.patience)"))
        case .closed: return failed(.failed("\(process.end())"))
        case .message:
            guard let hello = try? process.socket.receive(WorkerHello.self).message else {
                return failed(.failed("\(process.end())"))
            }
            if pool.admit(process, hello.layers) { return .success(hello.layers) }
            return .failure(.missingLayers(IsolationLayer.allCases.filter { !hello.layers.contains($0) }))
        }
    }

    private func failed(_ error: WorkerStartError) -> Result<[IsolationLayer], WorkerStartError> {
        pool.fail(error)
        return .failure(error)
    }
}
