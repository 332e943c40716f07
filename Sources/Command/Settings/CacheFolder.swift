import Foundation

/// Where the disk cache lies by default.
enum CacheFolder {
    /// `$XDG_CACHE_HOME/darkroom` or `~/.cache/darkroom`; on macOS `~/Library/Caches/darkroom`.
    static var standard: String {
        let home = FileManager.default.homeDirectoryForCurrentUser
        #if os(macOS)
            return home.appendingPathComponent("Library/Caches/darkroom").path
        #else
            if let cache = ProcessInfo.processInfo.environment["XDG_CACHE_HOME"], cache.hasPrefix("/") {
                return "\(cache)/darkroom"
            }
            return home.appendingPathComponent(".cache/darkroom").path
        #endif
    }
}
