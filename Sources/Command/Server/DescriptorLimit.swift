import Foundation
import Logging

/// The files and sockets that the process may have open.
struct DescriptorLimit {
    /// How many at a time.
    let count: Int

    /// What origins, the disk cache and the rest may need, beside clients' connections.
    static let reserved = 512

    /// Raises what the process may have to all that the system lets it have.
    static func raised(logger: Logger) -> DescriptorLimit {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return DescriptorLimit(count: 1024) }
        let before = limit.rlim_cur
        limit.rlim_cur = min(limit.rlim_max, rlim_t(maxCount))
        guard before < limit.rlim_cur, setrlimit(resource, &limit) == 0 else {
            return DescriptorLimit(count: Int(clamping: before))
        }
        logger.info("open files: limit raised", metadata: ["from": "\(before)", "to": "\(limit.rlim_cur)"])
        return DescriptorLimit(count: Int(limit.rlim_cur))
    }

    /// The connections that each of the listeners may have, so that all of them together leave the reserve alone.
    func connections(_ wanted: Int, listeners: Int, logger: Logger) -> Int {
        let possible = max(1, (count - min(Self.reserved, count / 2)) / listeners)
        guard possible < wanted else { return wanted }
        logger.warning(
            "max-connections is lowered to what the limit of open files allows",
            metadata: ["max-connections": "\(possible)", "limit": "\(count)"])
        return possible
    }

    /// Darwin takes no more.
    private static let maxCount = 1 << 20

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
