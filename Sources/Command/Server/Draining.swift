import DarkroomPipeline
import DarkroomWeb
import ServiceLifecycle

/// What comes first after SIGTERM: `/health/ready` says no from now on, and prefetching ends, with it the streams that tell of it.
///
/// As the last service of its group it is the first that is shut down. The doors before it follow one by one: each stops to listen, closes
/// connections without a request, and gives the others `shutdown-grace`.
struct Draining: Service {
    let serverState: ServerState
    let prefetcher: Prefetcher

    func run() async throws {
        guard (try? await gracefulShutdown()) != nil else { return }
        serverState.startDraining()
        prefetcher.shutdown()
    }
}
