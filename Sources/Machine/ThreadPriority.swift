import Foundation

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
