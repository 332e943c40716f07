import Foundation

/// The built executable, running as a child process.
final class DarkroomProcess: Sendable {
    /// `http://127.0.0.1:PORT`, as the server printed it.
    let base: String
    private let process: Process
    private let output: Lines
    private let errors: URL

    /// The log so far, from standard error.
    var log: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    /// Starts `darkroom serve` on a free port with a cache folder of its own, and returns once it listens.
    convenience init(_ flags: [String] = [], cache: URL? = nil) async throws {
        let folder = try cache ?? .temporaryFolder()
        try await self.init(serving: ["--port", "0", "--cache-dir", folder.path, "--log-level", "warning"] + flags)
    }

    /// Starts `darkroom serve` with these flags and variables only.
    ///
    /// - Parameter pipe: takes the log in place of a file.
    convenience init(serving flags: [String], environment: [String: String] = [:], log pipe: Pipe? = nil) async throws {
        let errors = try URL.temporaryFolder().appendingPathComponent("log")
        try Data().write(to: errors)
        let process = try Self.launch(
            ["serve"] + flags, environment: environment, output: Pipe(),
            errors: pipe ?? FileHandle(forWritingTo: errors))
        try await self.init(process, errors: errors)
    }

    /// Returns once the process, a server whose standard output is a pipe, listens.
    ///
    /// - Parameter errors: the file that takes its log.
    init(_ process: Process, errors: URL) async throws {
        self.process = process
        self.errors = errors
        output = Lines((process.standardOutput as? Pipe)?.fileHandleForReading)
        var found: String?
        while found == nil {
            guard let line = await output.next() else {
                let log = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
                throw StartFailure(status: Self.wait(process), log: log)
            }
            found = line.range(of: #"http://[0-9.]+:[0-9]+"#, options: .regularExpression).map { String(line[$0]) }
        }
        base = found ?? ""
    }

    deinit { process.terminate() }

    /// The next line on standard output after the URL; nil = the server has ended.
    func nextLine() async -> String? { await output.next() }

    var identifier: Int32 { process.processIdentifier }

    var isRunning: Bool { process.isRunning }

    /// Sends SIGTERM and returns the exit status.
    func stop() async -> Int32 {
        process.terminate()
        return Self.wait(process)
    }

    /// Waits for the end of the process and returns its exit status.
    func wait() async -> Int32 { Self.wait(process) }

    struct StartFailure: Error {
        var status: Int32
        var log: String
    }

    /// Runs the executable to its end.
    static func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws -> (status: Int32, output: String, errors: String) {
        let (output, errors) = (Pipe(), Pipe())
        let process = try launch(arguments, environment: environment, output: output, errors: errors)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let trouble = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return (wait(process), text, trouble)
    }

    /// `.build/debug/darkroom` beside the test bundle, or what `DARKROOM_BINARY` names.
    static var binary: URL {
        if let named = ProcessInfo.processInfo.environment["DARKROOM_BINARY"] { return URL(fileURLWithPath: named) }
        return URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("darkroom")
    }

    /// Starts the executable without variables of this process that are settings.
    static func launch(
        _ arguments: [String], environment: [String: String] = [:], input: Pipe? = nil, output: Pipe,
        errors: Any? = nil
    ) throws -> Process {
        let process = Process()
        process.executableURL = binary
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("DARKROOM_") }
            .merging(environment) { $1 }
        if let input { process.standardInput = input }
        process.standardOutput = output
        if let errors { process.standardError = errors }
        try process.run()
        return process
    }

    static func wait(_ process: Process) -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}

/// The lines of a pipe as they arrive.
final class Lines: Sendable {
    private let stream: AsyncStream<String>
    private nonisolated(unsafe) var iterator: AsyncStream<String>.Iterator

    init(_ handle: FileHandle?) {
        stream = AsyncStream { continuation in
            guard let handle else { return continuation.finish() }
            Thread {
                var rest = ""
                while case let data = handle.availableData, !data.isEmpty {
                    rest += String(decoding: data, as: UTF8.self)
                    while let end = rest.firstIndex(of: "\n") {
                        continuation.yield(String(rest[..<end]))
                        rest = String(rest[rest.index(after: end)...])
                    }
                }
                continuation.finish()
            }.start()
        }
        iterator = stream.makeAsyncIterator()
    }

    func next() async -> String? { await iterator.next() }
}

extension URL {
    /// A new empty folder.
    static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("darkroom-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// `Fixtures/images` of this package.
    static var fixtures: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fixtures/images")
    }
}
