import DarkroomMachine
import DarkroomPipeline
import Logging
import ServiceLifecycle

/// Gives memory back before the kernel takes the process.
struct MemoryUpkeep: Service {
    let relief: PressureRelief

    /// - Parameters:
    ///   - heldBytes: what the caches in memory hold now.
    ///   - lowWaterPercent: what is left of their budgets under pressure.
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

/// Removes entries that are older than the disk cache keeps them, at start-up and every hour.
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
