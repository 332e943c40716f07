import DarkroomEdgePurging
import DarkroomHTTPServer
import DarkroomMachine
import DarkroomPipeline
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Ends the process at once on a second SIGTERM or SIGINT. Entries on disk stay intact; pending disk writes are lost.
///
/// Signals within a second of the first one are the same request to stop: supervisors and terminals signal the process
/// and its whole group.
enum SecondSignal {
    /// Counts signals until the task is canceled.
    ///
    /// - Parameter flushLog: called before the process ends.
    static func watch(logger: Logger, flushLog: @escaping @Sendable () -> Void) async -> Task<Void, Never> {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        return Task {
            var first: ContinuousClock.Instant?
            for await signal in signals {
                let start = first ?? .now
                first = start
                guard start.duration(to: .now) >= .seconds(1) else { continue }
                logger.warning("second signal: exiting without finishing requests", metadata: ["signal": "\(signal)"])
                flushLog()
                _exit(128 + signal.rawValue)
            }
        }
    }
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

/// Shrinks the memory caches under memory pressure, before the kernel kills the process.
struct MemoryUpkeep: Service {
    let relief: PressureRelief

    /// - Parameters:
    ///   - heldBytes: the current size of the memory caches.
    ///   - lowWaterPercent: the share of their budgets that is kept under pressure.
    init(
        _ pipeline: ImagePipeline, heldBytes: @escaping @Sendable () -> Int, lowWaterPercent: Int, logger: Logger
    ) {
        let caches = PressureRelief.Cache(bytes: heldBytes) {
            pipeline.shrinkMemory(toFraction: Double(lowWaterPercent) / 100)
        }
        relief = PressureRelief([caches], logger: logger)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await relief.run() }
    }
}

/// Removes expired entries of the disk cache at startup and every hour.
struct ExpiryUpkeep: Service {
    let pipeline: ImagePipeline

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await pipeline.removeExpired()
                try? await Task.sleep(for: .seconds(3_600))
            }
        }
    }
}
