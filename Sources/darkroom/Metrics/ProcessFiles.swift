import Foundation

/// What the kernel tells the process about itself; nil where it does not.
enum ProcessFiles {
    /// The pages of `/proc/self/statm` that are in memory.
    static var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * Int(getpagesize()) }
    }

    /// Without the one that reading them takes.
    static var openDescriptors: Int? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")).map { $0.count - 1 }
    }
}
