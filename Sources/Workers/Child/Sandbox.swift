import DarkroomCSandbox
import DarkroomMachine
import Foundation

/// The walls that a worker puts up around itself before it sees a foreign byte. Each holds without the others.
struct Sandbox {
    /// Seconds of processor time after which the kernel ends a worker, whatever it does. It is replaced long before.
    static let processorSeconds = 3600
    /// A worker has its socket, three null streams, the source and the result of a job, and what codecs open.
    static let maxDescriptors = 64
    /// What a worker may map on top of the memory that it may have: allocators reserve more than they use.
    static let reservedBytes = 1 << 30

    private let setup: WorkerSetup

    init(_ setup: WorkerSetup) {
        self.setup = setup
    }

    /// Gives the layers that this system has. Exits where the server is gone already.
    ///
    /// - Parameter warmUp: opens all that libraries open once in their life, and may no longer when the last wall stands.
    func close(around warmUp: () -> Void) -> [IsolationLayer] {
        let memory = ProcessMemoryFile()
        var layers: [IsolationLayer] = []
        if bind() { layers.append(.bound) }
        if restrictFiles() { layers.append(.landlock) }
        warmUp()
        if limit(memory) { layers.append(.limits) }
        if darkroom_allow_few_calls() == 0 { layers.append(.seccomp) }
        return layers
    }

    private func bind() -> Bool {
        let result = darkroom_bind_to_parent(setup.parent)
        guard result != -ESRCH else { exit(EXIT_FAILURE) }
        return result == 0
    }

    private func limit(_ memory: ProcessMemoryFile?) -> Bool {
        guard let mappedBytes = memory?.read()?.mappedBytes else { return false }
        return darkroom_limit(
            UInt64(mappedBytes), UInt64(setup.memoryBytes + Self.reservedBytes), UInt64(setup.maxResultBytes),
            UInt64(Self.processorSeconds), UInt64(Self.maxDescriptors)) == 0
    }

    /// Landlock holds for the calling thread and those that it starts, so it is worth nothing where there are others.
    private func restrictFiles() -> Bool {
        let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        let ruleset = darkroom_ruleset()
        guard threads?.count == 1, ruleset >= 0 else { return false }
        for path in Self.readablePaths { _ = darkroom_allow_reading(ruleset, path) }
        return darkroom_enforce(ruleset) == 0
    }

    /// The folders of the libraries that are loaded, where libvips, GLib and codecs have their modules too; fonts.
    private static var readablePaths: Set<String> {
        let maps = FileHandle(forReadingAtPath: "/proc/self/maps")?.readDataToEndOfFile() ?? Data()
        let libraries = String(decoding: maps, as: UTF8.self).split(separator: "\n").compactMap { line in
            line.firstIndex(of: "/").map { line[$0...] }
        }.filter { $0.contains(".so") }
        let folders = libraries.map { URL(fileURLWithPath: String($0)).deletingLastPathComponent().path }
        return Set(folders).union([
            "/etc/fonts", "/etc/ld.so.cache", "/usr/local/share/fonts", "/usr/share/fontconfig", "/usr/share/fonts",
            "/usr/share/mime", "/var/cache/fontconfig",
        ])
    }

    /// See `WorkerRequest.attempt`.
    static func attempts() -> [String: Int32] {
        var results: [String: Int32] = [:]
        var failure: Int32 = 0
        while let name = darkroom_attempt(Int32(results.count), &failure) { results[String(cString: name)] = failure }
        return results
    }
}
