import Pipeline
import ServiceLifecycle
import Web

/// Between SIGTERM and the end of listening: `/health/ready` says no, so that a load balancer sends new requests elsewhere, while
/// requests under way are finished. Prefetching ends at once, and with it the streams that tell of it.
struct Draining: Service {
    let traffic: Traffic
    let prefetcher: Prefetcher
    /// Who goes on sending requests learns of the end by a refused connection.
    private static let timeout = Duration.seconds(5)

    init(_ traffic: Traffic, _ prefetcher: Prefetcher) {
        self.traffic = traffic
        self.prefetcher = prefetcher
    }

    /// Ends once no request is under way, or after 5 s. As the last service of its group it holds up the end of those before it.
    func run() async throws {
        guard (try? await gracefulShutdown()) != nil else { return }
        prefetcher.shutdown()
        await withTaskGroup { group in
            group.addTask { [traffic] in await traffic.drain() }
            group.addTask { try? await Task.sleep(for: Self.timeout) }
            await group.next()
            group.cancelAll()
        }
    }
}
