import DarkroomTransforms
import DarkroomWorkers
import Logging

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
