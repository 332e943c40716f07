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

    /// The start of a job and the stream of its events, each of which may fail.
    struct Server: Sendable {
        let start: @Sendable (PrefetchList.Batch) async throws(PrefetchFailure) -> PrefetchJobState
        /// Returns the last state; nil if the stream ended before the job.
        let watch: @Sendable (UUID, (PrefetchJobState) -> Void) async throws(PrefetchFailure) -> PrefetchJobState?
    }

    /// Why the run ended before its list did.
    enum Failure: Error, Equatable {
        case server(PrefetchFailure)
        /// The server has refused a line of the list.
        case line(Int, detail: String)
        /// The stream ended early several times in a row.
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

    /// The waits before the event stream is opened again.
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

    /// The last state of a job. Opens the event stream again where it ends early.
    private func follow(
        _ job: PrefetchJobState, onFailure: (PrefetchJobState.Failure) -> Void
    ) async throws(Failure) -> PrefetchJobState {
        var listed = 0
        var pauses = Self.pauses[...]
        while true {
            var reason = "the stream of events ended early."
            do throws(PrefetchFailure) {
                let last = try await server.watch(job.id) { progress in
                    state.withLock { $0.current = progress }
                    for failure in progress.failures.dropFirst(listed) { onFailure(failure) }
                    listed = max(listed, progress.failures.count)
                    pauses = Self.pauses[...]
                }
                if let last { return last }
            } catch {
                switch error {
                case .connection(let text): reason = text
                case .refused(status: 404, _, _): throw .forgotten
                case .refused, .notDarkroom: throw .server(error)
                }
            }
            guard let pause = pauses.popFirst() else { throw .lost(job.id, reason: reason) }
            guard (try? await clock.sleep(for: pause)) != nil else { throw .canceled }
        }
    }
}
