import Hummingbird
import Pipeline
import ServiceLifecycle
import Web

/// The server at all its doors at once.
///
/// On SIGTERM it stops to listen and closes connections without a request; those that have one get its answer, and are cut off at the end of
/// `shutdown-grace`. Meanwhile `/health/ready` says no to who is still connected. Prefetching ends at once, and with it the streams that tell of it.
struct Doors: Service {
    let doors: [(door: Door, application: any ApplicationProtocol)]
    let traffic: Traffic
    let prefetcher: Prefetcher

    /// Throws a ``DoorFailure``.
    func run() async throws {
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup { group in
                for (door, application) in doors {
                    group.addTask { try await Self.run(application, at: door) }
                }
                try await group.waitForAll()
            }
        } onGracefulShutdown: {
            traffic.drain()
            prefetcher.shutdown()
        }
    }

    private static func run(_ application: any ApplicationProtocol, at door: Door) async throws {
        do {
            try await application.run()
        } catch {
            throw DoorFailure(door: door, reason: error)
        }
    }
}
