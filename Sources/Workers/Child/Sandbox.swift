import DarkroomCSandbox
import DarkroomMachine
import Foundation

/// The sandbox that a worker enters before it receives untrusted bytes. Each layer is effective without the others.
struct Sandbox {
    /// CPU seconds after which the kernel kills a worker. It is replaced long before.
    static let processorSeconds = 3600
    /// Maximum open descriptors: the socket, three null streams, source and result of a job, and what codecs open.
    static let maxDescriptors = 64
    /// Address space beyond the memory limit: allocators reserve more than they use.
    static let reservedBytes = 1 << 30

    private let setup: WorkerSetup

    init(_ setup: WorkerSetup) {
        self.setup = setup
    }

    /// Enters the sandbox and returns the layers that this system supports. Exits if the server has already exited.
    ///
    /// The process was just forked by ``Zygote``; its descriptor 4 is the ruleset, if the system has Landlock.
    func enter() -> [IsolationLayer] {
        let memory = ProcessMemoryFile()
        var layers: [IsolationLayer] = []
        if bind() { layers.append(.bound) }
        if darkroom_enforce(4) == 0 { layers.append(.landlock) }
        if limit(memory) { layers.append(.limits) }
        if darkroom_restrict_system_calls() == 0 { layers.append(.seccomp) }
        return layers
    }

    private func bind() -> Bool {
        let result = darkroom_bind_to_parent(pid_t(truncatingIfNeeded: setup.parent), Worker.processName)
        guard result != -ESRCH else { exit(EXIT_FAILURE) }
        return result == 0
    }

    private func limit(_ memory: ProcessMemoryFile?) -> Bool {
        guard let mappedBytes = memory?.read()?.mappedBytes else { return false }
        return darkroom_limit(
            UInt64(mappedBytes), UInt64(setup.memoryBytes + Self.reservedBytes), UInt64(setup.maxResultBytes),
            UInt64(Self.processorSeconds), UInt64(Self.maxDescriptors)) == 0
    }

    /// The rules for files that every worker enforces on itself; -1 without Landlock.
    static func ruleset() -> Int32 {
        let ruleset = darkroom_ruleset()
        guard ruleset >= 0 else { return -1 }
        for path in readablePaths { _ = darkroom_allow_reading(ruleset, path) }
        return ruleset
    }

    /// Folders of the loaded libraries, which also hold the modules of libvips, GLib and codecs, and of fonts.
    private static var readablePaths: Set<String> {
        let maps = FileHandle(forReadingAtPath: "/proc/self/maps")?.readDataToEndOfFile() ?? Data()
        let folders = String(decoding: maps, as: UTF8.self).split(separator: "\n").compactMap { line -> String? in
            guard line.contains(".so"), let start = line.firstIndex(of: "/"), let end = line.lastIndex(of: "/") else {
                return nil
            }
            return String(line[start..<end])
        }
        return Set(folders).union([
            "/etc/fonts", "/etc/ld.so.cache", "/usr/local/share/fonts", "/usr/share/fontconfig", "/usr/share/fonts",
            "/usr/share/mime", "/var/cache/fontconfig",
        ])
    }

    /// See ``WorkerRequest/probe``.
    static func probes() -> [ProbeResult] {
        var results: [ProbeResult] = []
        var failure: Int32 = 0
        while let name = darkroom_probe(Int32(results.count), &failure) {
            results.append(ProbeResult(name: String(cString: name), failure: Int(failure)))
        }
        return results
    }
}
