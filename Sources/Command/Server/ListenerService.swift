import DarkroomWeb
import Foundation
import Hummingbird
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// The HTTP server on one listener.
struct ListenerService: Service {
    let listener: Listener
    let application: any ApplicationProtocol
    /// The path of the Unix socket that the listener binds; nil = none.
    let unixSocket: String?

    /// Throws a ``ListenerFailure``.
    func run() async throws {
        do {
            if let unixSocket { try await Self.requireUnused(unixSocket) }
            try await application.run()
        } catch {
            throw ListenerFailure(listener: listener, reason: error)
        }
    }

    /// Throws if a server listens on the socket: binding would take it away from that server. A socket that a server
    /// has left behind is replaced.
    private static func requireUnused(_ path: String) async throws {
        let client = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        guard let channel = try? await client.connect(unixDomainSocketPath: path).get() else { return }
        try? await channel.close()
        throw IOError(errnoCode: EADDRINUSE, reason: "bind")
    }
}

/// A listener that could not bind its address.
struct ListenerFailure: Error {
    let listener: Listener
    let reason: any Error

    /// A sentence that names the setting to change.
    func sentence(_ settings: Settings) -> String {
        let listeners = settings.listeners
        let code = (reason as? IOError)?.errnoCode
        if listener == .main, let path = listeners.unixSocket {
            let reason = code == EADDRINUSE ? "is already in use" : "cannot be bound (\(reason))"
            return "The Unix socket \(path) \(reason). Choose another with --unix-socket."
        }
        let (host, port) =
            listener == .main ? (listeners.host, listeners.port) : (listeners.adminHost, listeners.adminPort ?? 0)
        let flags = listener == .main ? (host: "--host", port: "--port") : (host: "--admin-host", port: "--admin-port")
        return switch code {
        case EADDRINUSE: "Port \(port) on \(host) is already in use. Choose another with \(flags.port)."
        case EACCES: "Port \(port) on \(host) requires privileges. Choose one from 1024 up with \(flags.port)."
        case EADDRNOTAVAIL: "This machine does not have the address \(host). Choose another with \(flags.host)."
        default: "Cannot listen on \(host):\(port) (\(reason)). Choose another address with \(flags.host)."
        }
    }
}

/// The message on standard output once the server is up: its URLs, and a command to try.
final class StartupMessage: Sendable {
    private let settings: Settings
    private let ports = Mutex<[Listener: Int]>([:])

    init(_ settings: Settings) {
        self.settings = settings
    }

    /// Records the port of an open listener.
    /// - Returns: whether all listeners are open.
    func recordOpen(_ listener: Listener, port: Int) -> Bool {
        ports.withLock { ports in
            ports[listener] = port
            return ports.count == (settings.listeners.adminPort == nil ? 1 : 2)
        }
    }

    func print() {
        let ports = ports.withLock(\.self)
        let socket = settings.listeners.unixSocket
        let base = socket == nil ? Self.url(settings.listeners.host, ports[.main] ?? 0) : "http://localhost"
        var text = "Darkroom listens on \(socket.map { "unix:\($0)" } ?? base)\n"
        if let port = ports[.admin] { text += "Admin endpoints: \(Self.url(settings.listeners.adminHost, port))\n" }
        if let sample {
            let option = socket.map { "--unix-socket '\($0)' " } ?? ""
            text += "Try:  curl \(option)-o image.webp '\(base)/image?url=local:///\(sample)&w=400&output=webp'\n"
        }
        // Unbuffered: scripts wait for this line on a pipe.
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    private static func url(_ host: String, _ port: Int) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// `sample.jpg` in the local root, or else its first image whose name needs no encoding.
    private var sample: String? {
        guard let root = settings.origins.localRoot,
            let names = try? FileManager.default.contentsOfDirectory(atPath: root).sorted()
        else { return nil }
        if names.contains("sample.jpg") { return "sample.jpg" }
        return names.first { name in
            name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
                && ["jpg", "jpeg", "png", "webp", "gif"].contains(URL(fileURLWithPath: name).pathExtension)
        }
    }
}
