import Foundation
import NIOCore
import Testing

@testable import DarkroomCommand

/// Commands whose standard streams cannot be written.
@Suite(.timeLimit(.minutes(5)))
struct StandardStreamsTests {
    enum Fault: String, CaseIterable {
        case closed, full, noReader, sizeLimit
    }

    /// The commands whose result is what they print.
    private static let printing = [
        ["--help"], ["--version"], ["help", "serve"], ["serve", "--help"], ["transform", "-h"], ["settings"],
        ["version"],
        ["version", "--verbose"], ["config", "print"], ["import-settings", "imgproxy", "/dev/null"],
        ["sign", "url=local:///a.jpg&w=4"], ["translate", "--compat", "wsrv", "/?url=example.com/a.jpg&w=4"],
        ["transform", URL.fixtures.appendingPathComponent("sample.jpg").path, "-", "--w", "8", "--output", "png"],
        ["--generate-completion-script", "bash"], ["--experimental-dump-help"],
    ]

    /// Commands that fail, with their exit status.
    private static let failing: [([String], Int32)] = [
        (["--no-such-flag"], 64), (["sign"], 64), (["transform", "a.jpg"], 64), (["serve", "--port", "x"], 78),
        (["config", "check", "/no/such/file"], 78), (["config", "print", "--port", "x"], 78),
        (["transform", "/no/such/file.jpg", "/no/such/folder/a.jpg"], 1),
        (["health", "--url", "http://127.0.0.1:1"], 1),
        (["purge", "http://a.org/", "--server", "http://127.0.0.1:1"], 1),
        (["prefetch", "/no/such/list", "--server", "http://127.0.0.1:1"], 1),
        (["import-settings", "imgproxy", "/no/such/file"], 1), (["translate", "--compat", "wsrv", "/?w=4"], 1),
        (["translate", "/?w=4"], 64), (["serve", "--local-root", "/no/such/folder"], 1),
    ]

    private static let environment = ["DARKROOM_SIGNING_KEYS": "k1:0123456789abcdef0123456789-secret"]

    @Test(arguments: printing, Fault.allCases)
    func `A result that cannot be written is an error, not a crash`(arguments: [String], fault: Fault) throws {
        let (process, errors) = try Self.run(arguments, output: fault)
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == (fault == .noReader ? 141 : 1))
        let reason: String? =
            switch fault {
            case .closed: "Bad file descriptor"
            case .full: "No space left on device"
            case .sizeLimit: "File too large"
            case .noReader: nil
            }
        #expect(errors == (reason.map { "Error: Standard output cannot be written: \($0).\n" } ?? ""))
    }

    @Test(arguments: failing, Fault.allCases)
    func `An error that cannot be written changes no exit status`(command: ([String], Int32), fault: Fault) throws {
        let (process, _) = try Self.run(command.0, errors: fault)
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == command.1)
    }

    @Test(arguments: Fault.allCases)
    func `A command whose result is its exit status needs no standard output`(fault: Fault) async throws {
        let server = try await DarkroomProcess()
        let file = try URL.temporaryFile("darkroom.yaml", SettingsReference.exampleFile)
        for arguments in [["config", "check", file.path], ["health", "--url", server.base]] {
            let (process, errors) = try Self.run(arguments, output: fault)
            #expect(process.terminationReason == .exit && process.terminationStatus == 0)
            #expect(errors.isEmpty)
        }
        #expect(await server.stop() == 0)
    }

    @Test(arguments: Fault.allCases)
    func `Work that reports its progress ends with an error`(fault: Fault) throws {
        let folder = try URL.temporaryFolder()
        let sample = URL.fixtures.appendingPathComponent("sample.jpg").path
        for paths in [[sample, "-"], [sample, "\(folder.path)/b/"]] {
            let (process, _) = try Self.run(["transform"] + paths + ["--w", "8"], output: fault)
            #expect(process.terminationReason == .exit && process.terminationStatus != 0)
        }
    }

    @Test(
        arguments: [
            (.closed, nil), (.full, nil), (.noReader, nil), (nil, .closed), (nil, .full), (nil, .noReader),
            (.closed, .closed),
            (.full, .full), (.noReader, .noReader),
        ] as [(Fault?, Fault?)])
    func `A server starts whatever its streams are, and counts the lines that it cannot write`(
        output: Fault?, errors: Fault?
    ) async throws {
        let socket = try ListeningSocket()
        let token = "a-token-of-the-administrator"
        let process = try Self.launch(
            [
                "serve", "--port", "1", "--cache-dir", try URL.temporaryFolder().path, "--isolation", "none",
                "--local-root", URL.fixtures.path,
            ], output: output, errors: errors, socket: socket, environment: ["DARKROOM_ADMIN_TOKEN": token])
        let base = "http://127.0.0.1:\(socket.port)"
        #expect(try await Client.get("\(base)/image?url=local:///sample.jpg&w=8").status == 200)
        let metrics = try await Client.get("\(base)/metrics", fields: [("Authorization", "Bearer \(token)")])
        let line = try #require(
            String(buffer: metrics.body).split(separator: "\n").first {
                $0.hasPrefix("darkroom_log_lines_dropped_total ")
            })
        // The message on standard output has two lines, and the log has three until the server listens.
        let least = (output == nil ? 0.0 : 2) + (errors == nil ? 0 : 3)
        #expect(line.split(separator: " ").last.flatMap { Double($0) } ?? 0 >= least, "\(line)")
        process.terminate()
        #expect(DarkroomProcess.wait(process) == 0)
        #expect(process.terminationReason == .exit)
    }

    // MARK: Processes

    private static func run(
        _ arguments: [String], output: Fault? = nil, errors: Fault? = nil
    ) throws -> (process: Process, errors: String) {
        let log = try URL.temporaryFolder().appendingPathComponent("log")
        let process = try launch(arguments, output: output, errors: errors, log: log)
        process.waitUntilExit()
        return (process, (try? String(contentsOf: log, encoding: .utf8)) ?? "")
    }

    /// Starts the executable through a shell, which closes and redirects streams.
    ///
    /// - Parameter socket: becomes descriptor 3, as systemd passes it on.
    private static func launch(
        _ arguments: [String], output: Fault?, errors: Fault?, log: URL? = nil, socket: ListeningSocket? = nil,
        environment: [String: String] = environment
    ) throws -> Process {
        let file = try URL.temporaryFolder().appendingPathComponent("file").path
        var script = socket == nil ? "exec <&-" : "exec 3<&0 </dev/null; export LISTEN_PID=$$ LISTEN_FDS=1"
        // Standard error is a log for the test, unless it is at fault.
        if errors == nil, let log { script += "; exec 2>'\(log.path)'" }
        // The limit counts where the file is at its end, so that the log is not affected.
        if output == .sizeLimit || errors == .sizeLimit {
            script += "; head -c 65536 /dev/zero >'\(file)'; ulimit -f 64"
        }
        for (stream, fault) in [(1, output), (2, errors)] {
            switch fault {
            case .closed: script += "; exec \(stream)>&-"
            case .full: script += "; exec \(stream)>/dev/full"
            case .sizeLimit: script += "; exec \(stream)>>'\(file)'"
            case .noReader, nil: break
            }
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "\(script); exec \"$0\" \"$@\"", DarkroomProcess.binary.path] + arguments
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("DARKROOM_") }
            .merging(environment) { $1 }
        if let socket {
            process.standardInput = FileHandle(fileDescriptor: socket.descriptor, closeOnDealloc: false)
        }
        let broken = Pipe()
        try broken.fileHandleForReading.close()
        process.standardOutput = output == .noReader ? broken.fileHandleForWriting : FileHandle.nullDevice
        process.standardError = errors == .noReader ? broken.fileHandleForWriting : FileHandle.nullDevice
        try process.run()
        return process
    }
}
