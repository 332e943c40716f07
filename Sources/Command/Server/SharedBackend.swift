import CoreMetrics
import DarkroomObjectStorage
import DarkroomStore
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
