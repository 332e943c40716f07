import DarkroomEdgePurging
import DarkroomHTTPServer
import DarkroomLoading
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Passes the first SIGTERM or SIGINT on, also if no service is ready for it yet, and ends the process at once on a
/// second one. Entries on disk stay intact; pending disk writes are lost.
///
/// Signals within a second of the first one are the same request to stop: supervisors and terminals signal the process
/// and its whole group. Counts until the task is canceled, and flushes the log before the process ends.
func watchSignals(
    logger: Logger, flushLog: @escaping @Sendable () -> Void
) async -> (watch: Task<Void, Never>, first: AsyncStream<Void>) {
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let (stream, stop) = AsyncStream.makeStream(of: Void.self)
    let watch = Task {
        var first: ContinuousClock.Instant?
        for await signal in signals {
            let start = first ?? .now
            if first == nil { stop.yield() }
            first = start
            guard start.duration(to: .now) >= .seconds(1) else { continue }
            logger.warning("second signal: exiting without finishing requests", metadata: ["signal": "\(signal)"])
            flushLog()
            _exit(128 + signal.rawValue)
        }
    }
    return (watch, stream)
}

/// The first step of a graceful shutdown: `/health/ready` fails from now on, prefetch jobs end together with their
/// event streams, and purges that wait for caches in front are answered.
///
/// As the last service of its group it shuts down first. The listeners follow one by one: each stops listening,
/// closes idle connections, and gives in-flight requests `shutdown-grace` to finish.
struct DrainService: Service {
    let serverState: ServerState
    let prefetcher: Prefetcher
    let edges: EdgePurger
    let grace: Duration
    let logger: Logger

    func run() async throws {
        guard (try? await gracefulShutdown()) != nil else { return }
        logger.info(
            "draining",
            metadata: [
                "in-flight": .stringConvertible(serverState.inFlightRequests),
                "grace-seconds": .stringConvertible(grace / .seconds(1)),
            ])
        serverState.startDraining()
        prefetcher.shutdown()
        edges.endWaits()
    }
}

/// Work beside the listeners. It goes on until all services after it have shut down.
struct Upkeep: Service, CustomStringConvertible {
    /// Without the properties of the work, which may be secret: service groups log the services that they run.
    let description: String
    private let work: @Sendable () async -> Void
    private let stop: (@Sendable () -> Void)?

    /// - Parameter stop: makes the work end; nil = cancellation does.
    init(
        _ description: String, stop: (@Sendable () -> Void)? = nil, _ work: @escaping @Sendable () async -> Void
    ) {
        self.description = description
        self.work = work
        self.stop = stop
    }

    /// Work that is done at startup and then in this interval.
    init(_ description: String, every interval: Duration, _ work: @escaping @Sendable () async -> Void) {
        self.init(description) {
            while !Task.isCancelled {
                let next = ContinuousClock.now + interval
                await work()
                try? await Task.sleep(until: next)
            }
        }
    }

    func run() async throws {
        guard let stop else { return await cancelWhenGracefulShutdown(work) }
        await withGracefulShutdownHandler(operation: work, onGracefulShutdown: stop)
    }
}
