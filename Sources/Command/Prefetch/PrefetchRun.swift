import Foundation
import Synchronization

/// Has a server make a list of images, job after job, and follows each to its end.
final class PrefetchRun: Sendable {
    /// The results of the jobs so far.
    struct Counts: Equatable, Sendable {
        var done = 0
        var failed = 0
        var bytes = 0

        var finished: Int { done + failed }

        fileprivate mutating func add(_ job: PrefetchJobState) {
            done += job.done
            failed += job.failed
            // A server may claim any number.
            bytes = min(bytes, Int.max - job.bytes) + job.bytes
        }
    }

    /// The start of a job and the question for its state, each of which may fail.
    struct Server: Sendable {
        let start: @Sendable (PrefetchList.Batch) async throws(PrefetchFailure) -> PrefetchJobState
        let state: @Sendable (UUID) async throws(PrefetchFailure) -> PrefetchJobState
    }

    /// Why the run ended before its list did.
    enum Failure: Error, Equatable {
        case server(PrefetchFailure)
        /// The server has refused a line of the list.
        case line(Int, detail: String)
        /// The server did not answer several times in a row.
        case lost(UUID, reason: String)
        /// The server no longer has the job.
        case forgotten
        case canceled
    }

    private let server: Server
    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    private struct State {
        /// Of the jobs that have ended.
        var before = Counts()
        var current: PrefetchJobState?
    }

    /// The longest wait between two questions for a job's state. The first are shorter, as most short jobs are.
    static let interval = Duration.seconds(1)
    /// The waits before a server that did not answer is asked again.
    static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(15)]

    init(_ server: Server, clock: any Clock<Duration> = ContinuousClock()) {
        self.server = server
        self.clock = clock
    }

    var counts: Counts {
        state.withLock { state in
            var counts = state.before
            if let job = state.current { counts.add(job) }
            return counts
        }
    }

    var job: UUID? { state.withLock { $0.current?.id } }

    /// Runs all jobs. Reports each image that failed, as far as the server lists them.
    func run(
        _ list: PrefetchList, onFailure: (PrefetchJobState.Failure) -> Void
    ) async throws(Failure) {
        for batch in list.batches() {
            let job: PrefetchJobState
            do throws(PrefetchFailure) { job = try await start(batch) } catch {
                guard case .refused(_, let detail, let member) = error, let line = batch.line(ofMember: member) else {
                    throw .server(error)
                }
                throw .line(line, detail: detail)
            }
            state.withLock { $0.current = job }
            let last = try await follow(job, onFailure: onFailure)
            state.withLock { state in
                state.before.add(last)
                state.current = nil
            }
            guard last.state == .done else { throw .canceled }
        }
    }

    /// Starts a job. Cancellation does not interrupt the request: the server may have taken the job, which can be
    /// canceled only when its identifier is known.
    private func start(_ batch: PrefetchList.Batch) async throws(PrefetchFailure) -> PrefetchJobState {
        let request = Task { [server] () async -> Result<PrefetchJobState, PrefetchFailure> in
            do throws(PrefetchFailure) { return .success(try await server.start(batch)) } catch {
                return .failure(error)
            }
        }
        return try await request.value.get()
    }

    /// The last state of a job.
    private func follow(
        _ job: PrefetchJobState, onFailure: (PrefetchJobState.Failure) -> Void
    ) async throws(Failure) -> PrefetchJobState {
        var (latest, listed) = (job, 0)
        var interval = Self.interval / 10
        while true {
            state.withLock { [latest] in $0.current = latest }
            for failure in latest.failures.dropFirst(listed) { onFailure(failure) }
            listed = max(listed, latest.failures.count)
            guard latest.state == .running else { return latest }
            latest = try await nextState(of: job.id, after: interval)
            interval = min(interval * 2, Self.interval)
        }
    }

    private func nextState(of job: UUID, after interval: Duration) async throws(Failure) -> PrefetchJobState {
        var reason = ""
        for pause in [interval] + Self.pauses {
            guard (try? await clock.sleep(for: pause)) != nil else { throw .canceled }
            do throws(PrefetchFailure) {
                return try await server.state(job)
            } catch {
                switch error {
                case .connection(let text): reason = text
                case .refused(status: 404, _, _): throw .forgotten
                case .refused, .notDarkroom: throw .server(error)
                }
            }
        }
        throw .lost(job, reason: reason)
    }
}
