import Foundation
import Logging

/// The limit of open file descriptors of this process.
struct DescriptorLimit {
    let count: Int

    /// Descriptors reserved for origins, the disk cache and everything else besides client connections and the memory
    /// tier.
    private static let reserved = 512

    /// The most memory files of the memory tier: as many as a default budget holds originals of 64 KiB.
    private static let maxMemoryFiles = 4096

    var memoryFiles: Int { min(count / 4, Self.maxMemoryFiles) }

    /// The soft limit, which applies.
    static var current: Int? { limit.map { Int(clamping: $0.rlim_cur) } }

    /// The fewest descriptors that a server can work with: workers, caches and connections have some each.
    private static let minimum = 256

    /// Why the server cannot start with this process's limit; nil if it can.
    static var fault: String? {
        guard let limit, limit.rlim_max < minimum else { return nil }
        return "This process may open only \(limit.rlim_max) files, and a server needs \(minimum) or more: raise the "
            + "limit ('ulimit -Hn', or LimitNOFILE= of the systemd unit)."
    }

    static func raised(logger: Logger) -> DescriptorLimit {
        guard var limit else { return DescriptorLimit(count: 1024) }
        let before = limit.rlim_cur
        limit.rlim_cur = min(limit.rlim_max, rlim_t(maxCount))
        guard before < limit.rlim_cur, setrlimit(resource, &limit) == 0 else {
            return DescriptorLimit(count: Int(clamping: before))
        }
        logger.info(
            "raised the limit of open files", metadata: ["from": "\(before)", "to": "\(limit.rlim_cur)"])
        return DescriptorLimit(count: Int(limit.rlim_cur))
    }

    /// The connections that each listener may accept so that all listeners together leave the reserve free.
    func connections(_ requested: Int, listeners: Int, logger: Logger) -> Int {
        let possible = max(1, (count - min(Self.reserved + memoryFiles, count / 2)) / listeners)
        guard possible < requested else { return requested }
        logger.warning(
            "lowered max-connections to fit the limit of open files",
            metadata: ["max-connections": "\(possible)", "limit": "\(count)"])
        return possible
    }

    /// Darwin accepts no higher limit.
    private static let maxCount = 1 << 20

    /// Nil if the system does not report it.
    private static var limit: rlimit? {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? limit : nil
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
