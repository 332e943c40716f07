import DarkroomStore
import Logging

/// Opens the disk cache; a folder that can't be had now costs the tier, not the service.
struct DiskTier {
    let settings: Settings
    let logger: Logger

    /// Nil where the service goes on without. Throws what only a better setting can mend.
    func open() async throws(SettingError) -> DiskStore? {
        var configuration = DiskStore.Configuration(directory: settings.cacheDirectory)
        configuration.budgetBytes = settings.cacheDiskBytes
        configuration.maxAge = settings.cacheMaxAge
        configuration.expiry = settings.cacheExpireBy
        do throws(DiskStoreError) {
            return try await DiskStore(configuration, logger: logger)
        } catch {
            switch error {
            case .inUse, .readOnly:
                logger.error("going on without a disk cache", metadata: ["reason": "\(error)"])
                return nil
            case .unusable: throw SettingError("\(SettingKey.cacheDir.name): \(error).")
            }
        }
    }
}
