import Foundation

/// The CPU time that processes have used.
package enum ProcessorTime {
    /// The time of all threads of this process, in user and kernel mode; nil if the system does not report it.
    package static var ofThisProcess: Duration? {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
