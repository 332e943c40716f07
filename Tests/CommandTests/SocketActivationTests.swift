import Foundation
import Testing

@testable import DarkroomCommand

/// Sockets that another process opened, as systemd does, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct SocketActivationTests {
    private let flags: [String]

    init() throws {
        flags = [
            "--local-root", URL.fixtures.path, "--cache-dir", try URL.temporaryFolder().path, "--port", "1",
            "--isolation", "none",
        ]
    }

    @Test func `The server answers on inherited sockets in place of its own addresses`() async throws {
        let (main, admin) = (try ListeningSocket(), try ListeningSocket())
        let server = try await DarkroomProcess(serving: flags, sockets: [("admin", admin), ("main", main)])
        #expect(server.base == "http://127.0.0.1:\(main.port)")
        #expect(try await server.image("local:///sample.jpg", "w=20").status == 200)
        #expect(try await Client.get("http://127.0.0.1:\(admin.port)/metrics").status == 200)
        #expect(try await Client.get(server.base + "/metrics").status == 404)
        #expect(await server.stop() == 0)
    }

    @Test func `A connection that waits in the socket while no server runs is served by the next one`() async throws {
        let main = try ListeningSocket()
        let first = try await DarkroomProcess(serving: flags, sockets: [("main", main)])
        #expect(await first.stop() == 0)
        async let early = Client.get("http://127.0.0.1:\(main.port)/image?url=local:///sample.jpg&w=20")
        let second = try await DarkroomProcess(serving: flags, sockets: [("main", main)])
        #expect(try await early.status == 200)
        #expect(await second.stop() == 0)
    }

    @Test func `Sockets for another process are none of the server's`() throws {
        let sockets = try InheritedSockets(["LISTEN_PID": "\(getpid() + 1)", "LISTEN_FDS": "1"])
        #expect(sockets.main == nil && sockets.admin == nil)
        #expect(try InheritedSockets([:]).main == nil)
    }

    @Test func `A socket that others can reach needs what a public address needs`() async throws {
        let open = try ListeningSocket(host: INADDR_ANY)
        let refused = try DarkroomProcess.run(["serve"] + flags, sockets: [("main", open)])
        #expect(refused.status == 78)
        let reason = "Error: LISTEN_FDS: anyone who can reach 0.0.0.0:\(open.port) could have this server fetch"
        #expect(refused.errors.hasPrefix(reason), "\(refused.errors)")
        let admin = try DarkroomProcess.run(
            ["serve", "--open-proxy", "true"] + flags, sockets: [("admin", open), ("main", try ListeningSocket())])
        #expect(admin.status == 78)
        #expect(admin.errors.hasPrefix("Error: LISTEN_FDS: anyone who can reach admin-port"), "\(admin.errors)")
    }

    @Test func `What is no listening socket stops startup with the reason`() throws {
        let unbound = try ListeningSocket(isListening: false)
        let run = try DarkroomProcess.run(["serve"] + flags, sockets: [("main", unbound)])
        #expect(run.status == 78)
        #expect(run.errors == "Error: LISTEN_FDS: descriptor 3 is not a listening stream socket.\n")
        let both = [("main", try ListeningSocket()), ("other", try ListeningSocket())]
        let twice = try DarkroomProcess.run(["serve"] + flags, sockets: both)
        #expect(twice.status == 78)
        #expect(twice.errors.hasPrefix("Error: LISTEN_FDS: two sockets are for the same listener."), "\(twice.errors)")
    }
}

extension DarkroomProcess {
    /// Starts `darkroom serve` with inherited sockets, as systemd does.
    convenience init(serving flags: [String], sockets: [(name: String, socket: ListeningSocket)]) async throws {
        let errors = try URL.temporaryFolder().appendingPathComponent("log")
        try await self.init(try Self.launch(["serve"] + flags, sockets, errors: errors), errors: errors)
    }

    /// Runs the executable with inherited sockets to its end.
    static func run(
        _ arguments: [String], sockets: [(name: String, socket: ListeningSocket)]
    ) throws -> (status: Int32, errors: String) {
        let errors = try URL.temporaryFolder().appendingPathComponent("log")
        let process = try launch(arguments, sockets, errors: errors)
        process.waitUntilExit()
        return (process.terminationStatus, try String(contentsOf: errors, encoding: .utf8))
    }

    /// Starts the executable through a shell, because a child of `Process` inherits nothing but the three standard
    /// descriptors, and knows its process number only itself.
    private static func launch(
        _ arguments: [String], _ sockets: [(name: String, socket: ListeningSocket)], errors: URL
    ) throws -> Process {
        let script = """
            exec 3<&0 4<&2 </dev/null 2>"$0"
            [ "$1" = 2 ] || exec 4<&-
            export LISTEN_PID=$$ LISTEN_FDS="$1" LISTEN_FDNAMES="$2"
            shift 2
            exec "$@"
            """
        let names = sockets.map(\.name).joined(separator: ":")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script, errors.path, "\(sockets.count)", names, binary.path] + arguments
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("DARKROOM_") }
        process.standardInput = FileHandle(fileDescriptor: sockets[0].socket.descriptor, closeOnDealloc: false)
        process.standardError = FileHandle(
            fileDescriptor: sockets[sockets.count - 1].socket.descriptor, closeOnDealloc: false)
        process.standardOutput = Pipe()
        try process.run()
        return process
    }
}

/// A listening socket of this process, for a child process.
final class ListeningSocket: Sendable {
    let descriptor: CInt
    let port: Int

    init(host: in_addr_t = INADDR_LOOPBACK, isListening: Bool = true) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = host.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(descriptor, address, length) == 0, !isListening || listen(descriptor, 8) == 0 else {
                    return CInt(-1)
                }
                return getsockname(descriptor, address, &length)
            }
        }
        guard result == 0 else { throw POSIXError(.EADDRINUSE) }
        port = Int(UInt16(bigEndian: address.sin_port))
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }
}
