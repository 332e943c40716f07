import CoreMetrics
import DarkroomHTTPServer
import DarkroomObjectStorage
import DarkroomStore
import DarkroomTransforms
import DarkroomWorkers
import Foundation
import Logging
import NIOPosix

/// The tier that several servers share, and the client of its object store.
struct SharedBackend: Sendable {
    let store: SharedStore
    /// Whether the store answered at the start.
    let isReachable: Bool
    private let client: ObjectStore

    static let help = [
        "darkroom_shared_store_requests_total": "Requests to the object store, by operation; retries are included."
    ]
    /// The time that the store has to answer before the server starts without it.
    private static let startLimit = Duration.seconds(5)

    /// Nil if the settings name no shared store. Throws if the store refuses to be used as the settings say. If it does
    /// not answer, the server starts without it.
    init?(_ settings: Settings, metrics: any MetricsFactory, logger: Logger) async throws(SettingError) {
        guard let folder = settings.objectStorage.sharedStore else { return nil }
        let counters: [ObjectStoreOperation: Counter] = .counters(
            "darkroom_shared_store_requests_total", by: "operation", metrics
        ) { $0 == .deleteBatch ? "delete_batch" : $0.rawValue }
        let group = MultiThreadedEventLoopGroup.singleton
        let setting = SettingsTable.all.objectStorage.sharedStore.name
        let location = try settings.objectStore
        do throws(ObjectStorageError) {
            client = try ObjectStore(
                location,
                credentials: RenewingCredentials(
                    environment: ProcessInfo.processInfo.environment, eventLoopGroup: group, logger: logger),
                eventLoopGroup: group, onRequest: { counters[$0]?.increment() })
        } catch {
            throw SettingError("\(setting): \(error)")
        }
        store = SharedStore(
            StoreFolder(client, bucket: folder.bucket, folder: folder.folder), settings.sharedStoreConfiguration,
            logger: logger)
        do throws(ObjectStorageError) {
            try await store.check(within: Self.startLimit)
            isReachable = true
        } catch {
            switch error {
            // The store may answer later without a change of settings.
            case .slowDown, .unavailable, .timedOut, .unreachable, .canceled:
                logger.error("starting without the shared store", metadata: ["reason": "\(error)"])
                isReachable = false
            default: throw SettingError("\(setting): \(error)")
            }
        }
    }

    /// Finishes queued writes.
    func shutdown() async {
        await store.close()
        await client.shutdown()
    }
}

/// Where images are decoded, transformed and encoded: in worker processes or in this process.
struct PixelBackend: Sendable {
    let processing: any ImageProcessing
    /// Statistics of the cache of decoded originals.
    let decoded: @Sendable () -> DecodedStatistics
    /// Nil = images are processed in this process.
    let workers: WorkerImageProcessor?

    /// Throws if the isolation that the settings require is unavailable.
    init(_ settings: Settings, logger: Logger) async throws(SettingError) {
        workers = settings.processing.isolation == .none ? nil : try await Self.startWorkers(settings, logger)
        if let workers {
            processing = workers
            decoded = { workers.decoded }
        } else {
            let cache = DecodedCache(budgetBytes: settings.cache.decodedBytes)
            processing = InProcessImageProcessor(decoded: cache)
            decoded = { cache.statistics }
        }
    }

    /// Nil where this platform has no workers and `isolation` does not require them.
    private static func startWorkers(
        _ settings: Settings, _ logger: Logger
    ) async throws(SettingError) -> WorkerImageProcessor? {
        do throws(WorkerStartError) {
            return try await WorkerImageProcessor(settings.workerConfiguration, logger: logger)
        } catch {
            guard error == .unsupported, settings.processing.isolation == .auto else {
                throw SettingError("\(SettingsTable.all.processing.isolation.name): \(error).")
            }
            logger.warning("images are decoded in the server process", metadata: ["reason": "\(error)"])
            return nil
        }
    }
}
