import Foundation

/// What the kernel tells the process about itself; nil where it does not.
enum ProcessFiles {
    /// The pages of `/proc/self/statm` that are in memory.
    static var residentBytes: Int? {
        // Its size reads as 0, so that what reads a file by its size may find nothing.
        guard let file = FileHandle(forReadingAtPath: "/proc/self/statm"), let data = try? file.readToEnd() else {
            return nil
        }
        let sizes = String(decoding: data, as: UTF8.self).split(separator: " ")
        return sizes.dropFirst().first.flatMap { Int($0) }.map { $0 * Int(getpagesize()) }
    }

    /// Without the one that reading them takes.
    static var openDescriptors: Int? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")).map { $0.count - 1 }
    }
}
