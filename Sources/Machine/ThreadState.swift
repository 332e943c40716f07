import Foundation

/// A thread of this process, as the kernel sees it (proc(5)).
package struct ThreadState: Hashable, Sendable {
    package let name: String
    /// `R` (running), `S` (waiting), `D` (waiting for a device), and others.
    package let state: String
    /// The kernel function in which the thread waits; nil if the kernel does not tell.
    package let waitsIn: String?

    /// All threads, in the order in which they started; empty where the kernel has no such files.
    package static var all: [ThreadState] { all() }

    static func all(root: String = "") -> [ThreadState] {
        let files = KernelFiles(root: root)
        let folder = "/proc/self/task"
        let identifiers = (try? FileManager.default.contentsOfDirectory(atPath: root + folder)) ?? []
        return identifiers.compactMap { Int($0) }.sorted().compactMap { identifier in
            // A thread may end meanwhile.
            guard let statistics = files.text("\(folder)/\(identifier)/stat") else { return nil }
            return ThreadState(statistics: statistics, waitsIn: files.text("\(folder)/\(identifier)/wchan"))
        }
    }

    /// - Parameter statistics: the content of `stat`: the name is in parentheses, and may have some itself.
    init?(statistics: String, waitsIn: String?) {
        guard let start = statistics.firstIndex(of: "("), let end = statistics.lastIndex(of: ")"), start < end,
            let state = statistics[end...].dropFirst().split(separator: " ").first
        else { return nil }
        name = String(statistics[statistics.index(after: start)..<end])
        self.state = String(state)
        self.waitsIn = waitsIn.flatMap { ["", "0"].contains($0) ? nil : $0 }
    }
}

/// Nice values of threads, so that background work gives way to threads that answer requests: a cache hit takes
/// microseconds and would otherwise wait milliseconds for its turn at the scheduler.
package enum ThreadPriority {
    /// Lowers the priority of the calling thread and of the threads that it starts from now on.
    ///
    /// Does nothing where threads have no nice value of their own, as on macOS.
    ///
    /// - Parameter niceness: 1 to 19. The default leaves the thread about a tenth of the processor while other threads
    ///   want all of it (sched(7)).
    package static func lower(niceness: Int32 = 10) {
        // On Linux, 0 means the calling thread and not its process (setpriority(2), "Bugs").
        #if canImport(Glibc)
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
        #elseif canImport(Musl)
            _ = setpriority(PRIO_PROCESS, 0, niceness)
        #endif
    }
}
