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
