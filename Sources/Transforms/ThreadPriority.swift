#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Pixel work gives way to answering: a hit takes microseconds, and would else wait for a scheduler's turn of milliseconds.
package enum ThreadPriority {
    /// Of the calling thread, and of those that it starts from now on. Nothing happens where threads have no nice value of their own, as on macOS.
    package static func lower() {
        // On Linux 0 stands for the calling thread, not for its process (setpriority(2), "Bugs").
        #if canImport(Glibc)
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
        #elseif canImport(Musl)
            _ = setpriority(PRIO_PROCESS, 0, niceness)
        #endif
    }

    /// About a tenth of the processor's time where others want all of it (sched(7)).
    private static let niceness: Int32 = 10
}
