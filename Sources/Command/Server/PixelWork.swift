import DarkroomTransforms
import DarkroomWorkers
import Logging

/// Where pictures are decoded, transformed and encoded: in workers, or in this process.
struct PixelWork: Sendable {
    let processing: any ImageProcessing
    /// What is kept of decoded pictures.
    let decoded: @Sendable () -> DecodedStatistics
    /// Nil = the work is done in this process.
    let workers: WorkerImageProcessor?

    /// Throws where the isolation that was asked for is not to be had.
    init(_ settings: Settings, logger: Logger) async throws(SettingError) {
        workers = settings.decoders.isolation == .none ? nil : try await Self.workers(settings, logger)
        if let workers {
            processing = workers
            decoded = { workers.decoded }
        } else {
            let cache = DecodedCache(budgetBytes: settings.cacheDecodedBytes)
            processing = InProcessImageProcessor(decoded: cache)
            decoded = { cache.statistics }
        }
    }

    var isHealthy: Bool { workers?.isHealthy ?? true }

    func stop() { workers?.stop() }

    /// Nil where this platform has none and they are no must.
    private static func workers(
        _ settings: Settings, _ logger: Logger
    ) async throws(SettingError) -> WorkerImageProcessor? {
        do throws(WorkerStartError) {
            return try await WorkerImageProcessor(configuration(settings), logger: logger)
        } catch {
            guard error == .unsupported, settings.decoders.isolation == .auto else {
                throw SettingError("\(SettingKey.isolation.name): \(error).")
            }
            logger.warning("pictures are decoded in the server's own process", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    private static func configuration(_ settings: Settings) -> WorkerConfiguration {
        let limits = settings.limits
        // Four samples of two bytes a pixel, uncompressed.
        let largest = max(limits.maxOutputPixels, limits.maxAnimationPixels) * 8 + 1 << 20
        var configuration = WorkerConfiguration(
            workers: settings.decoders.workers, isolation: settings.decoders.isolation,
            decodedBytes: settings.cacheDecodedBytes,
            memoryBytes: settings.decoders.memoryBytes, maxResultBytes: min(largest, settings.decoders.memoryBytes),
            jobTimeout: settings.requestTimeout, quarantine: settings.decoders.quarantine)
        configuration.subcommand = Entry.workerCommand
        return configuration
    }
}
