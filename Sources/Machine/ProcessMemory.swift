import DarkroomCMemory
import Foundation

/// The memory of a process, from `/proc/<pid>/statm` (proc_pid_statm(5)).
package struct ProcessMemory: Equatable, Sendable {
    /// The size of the address space, in bytes: all mappings, whether in memory or not.
    package let mappedBytes: Int
    /// The part of it that is in physical memory, in bytes.
    package let residentBytes: Int

    /// The memory of this process; nil where the kernel doesn't report it, as on macOS.
    package static var current: ProcessMemory? { ProcessMemoryFile()?.read() }

    /// The memory of another process; nil if there is none with this identifier.
    package static func ofProcess(_ identifier: Int32) -> ProcessMemory? { ProcessMemoryFile("\(identifier)")?.read() }

    /// Releases the pages of code that only starting needed, which would count as memory of this process. Code that is
    /// still used is mapped again, page by page, without reading any device.
    package static func releaseCode() { darkroom_release_code() }

    init?(statm text: String) {
        let pages = text.split(separator: " ").prefix(2).compactMap { Int($0) }
        guard pages.count == 2, pages.allSatisfy({ 0...(1 << 48) ~= $0 }) else { return nil }
        mappedBytes = pages[0] * Int(getpagesize())
        residentBytes = pages[1] * Int(getpagesize())
    }
}

/// An open `statm` of a process: a process that is about to give up its access to `/proc` opens it first.
package final class ProcessMemoryFile {
    private let file: KernelFile

    /// Opens the file of this process, or of the process with this identifier. Nil where the kernel has none.
    package init?(_ process: String = "self") {
        guard let file = KernelFile("/proc/\(process)/statm") else { return nil }
        self.file = file
    }

    /// Reads the memory at this moment. Works once: a second read finds the end of the file.
    package func read() -> ProcessMemory? { file.text().flatMap(ProcessMemory.init(statm:)) }
}

package enum FileDescriptors {
    /// The number of open descriptors, without the descriptor that is used for counting; nil if the system doesn't list
    /// them.
    package static var openCount: Int? {
        guard let folder = opendir("/dev/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Not ".", ".." and the folder's own descriptor.
        return count - 3
    }
}

/// The CPU time that processes have used.
package enum ProcessorTime {
    /// The time of all threads of this process, in user and kernel mode; nil if the system does not report it.
    package static var ofThisProcess: Duration? {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
