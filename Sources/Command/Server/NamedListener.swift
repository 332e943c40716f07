import DarkroomHTTPServer
import DarkroomQuery
import DarkroomRequests
import DarkroomTransforms
import DarkroomWeb
import Foundation
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// A listener whose errors name the listener.
struct NamedListener: Service, CustomStringConvertible {
    let listener: Listener
    let service: ListenerService

    var description: String { "\(listener) \(service)" }

    /// Throws a ``ListenerFailure``.
    func run() async throws {
        do { try await service.run() } catch { throw ListenerFailure(listener: listener, reason: error) }
    }
}

/// A listener that could not bind its address.
struct ListenerFailure: Error {
    let listener: Listener
    let reason: any Error

    /// A sentence that names the setting to change.
    func sentence(_ settings: Settings) -> String {
        let code = (reason as? IOError)?.errnoCode
        let (host, port): (String, Int)
        switch listener == .main ? settings.address : settings.adminAddress {
        case .unixSocket(let path):
            let reason = code == EADDRINUSE ? "is already in use" : "cannot be bound (\(reason))"
            return "The Unix socket \(path) \(reason). Choose another with --unix-socket."
        case .host(let name, let number): (host, port) = (name, number)
        case .inherited, nil: return "The socket from systemd cannot be used (\(reason))."
        }
        let flags = listener == .main ? (host: "--host", port: "--port") : (host: "--admin-host", port: "--admin-port")
        if reason is SocketAddressError.UnknownHost {
            return "'\(host)' is not an address, and no name that leads to one. Choose an address of this machine with "
                + "\(flags.host)."
        }
        return switch code {
        case EADDRINUSE: "Port \(port) on \(host) is already in use. Choose another with \(flags.port)."
        case EACCES: "Port \(port) on \(host) requires privileges. Choose one from 1024 up with \(flags.port)."
        case EADDRNOTAVAIL: "This machine does not have the address \(host). Choose another with \(flags.host)."
        default: "Cannot listen on \(host):\(port) (\(reason)). Choose another address with \(flags.host)."
        }
    }
}

/// The message on standard output once the server is up: its URLs, and a command to try. In a format for machines it is
/// the event `listening`, which is in the log otherwise.
final class StartupMessage: Sendable {
    private let settings: Settings
    private let logger: Logger
    private let ports = Mutex<[Listener: Int]>([:])

    init(_ settings: Settings, logger: Logger) {
        self.settings = settings
        self.logger = logger
    }

    /// Records the port of an open listener. Returns whether all listeners are open.
    func recordOpen(_ listener: Listener, port: Int) -> Bool {
        ports.withLock { ports in
            ports[listener] = port
            return ports.count == (settings.adminAddress == nil ? 1 : 2)
        }
    }

    /// Prints the message after the log so far, so that who reads the message finds the events of the start there.
    func print(by log: LogWriter) {
        let main = place(of: settings.address, .main)
        let admin = settings.adminAddress.map { place(of: $0, .admin) }
        var fields: Logger.Metadata = ["address": "\(main)"]
        fields["admin-address"] = admin.map { "\($0)" }
        let message: [UInt8]
        if settings.logging.format == .text {
            logger.info("listening", metadata: fields)
            message = Array(text(main, admin).utf8)
        } else {
            var line = LineFormatter(settings.logging.format)
            line.append(.info, "listening", fields, at: Date())
            message = line.bytes
        }
        // Unbuffered: scripts wait for this line on a pipe.
        log.write(message, to: STDOUT_FILENO)
    }

    private func text(_ main: String, _ admin: String?) -> String {
        var text = "Darkroom listens on \(main)\n"
        if let admin { text += "Admin endpoints: \(admin)\n" }
        let socket = main.hasPrefix("unix:") ? main.dropFirst(5) : nil
        let base = (socket == nil ? main : "http://localhost") + settings.listeners.basePath
        if settings.access.playground, socket == nil { text += "Playground: \(base)/\n" }
        if let url = sampleURL(base) {
            let options = socket.map { "--unix-socket '\($0)' " } ?? ""
            let file = settings.access.presetsOnly ? "image" : "image.webp"
            text += "Try:  curl -f \(options)-o \(file) '\(url)'\n"
        }
        return text
    }

    /// The URL of a thumbnail of the sample that the server answers: signed if it has keys, with a preset if it
    /// requires one. Nil where no key permits it.
    private func sampleURL(_ base: String) -> String? {
        guard let sample else { return nil }
        let configuration = settings.webConfiguration
        var parameters = ["url=local:///\(sample)"]
        if !configuration.access.presetsOnly {
            parameters += ["w=400", "output=webp"]
            if configuration.dialect != .darkroom { parameters.append("compat=darkroom") }
        } else if let preset = configuration.access.presets.names.first {
            parameters.append("preset=\(preset)")
        } else {
            return nil
        }
        let url = "\(base)/image?\(parameters.joined(separator: "&"))"
        guard settings.requiresSignature else { return url }
        let signer = URLSigner(configuration)
        return configuration.access.signingKeys.lazy.compactMap { try? signer.sign(url, keyID: $0.id) }.first
    }

    /// Where clients reach a listener: a URL, or `unix:` and a path.
    private func place(of address: ListenerAddress, _ listener: Listener) -> String {
        switch address {
        case .host(let host, _):
            let port = ports.withLock { $0[listener] } ?? 0
            return "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .unixSocket(let path): return "unix:\(path)"
        case .inherited:
            let address = (listener == .main ? settings.sockets.main : settings.sockets.admin)?.address ?? ""
            return address.hasPrefix("unix:") ? address : "http://\(address)"
        }
    }

    /// `sample.jpg` in the local root, or else its first image whose name needs no encoding, or else a sample of the
    /// playground.
    private var sample: String? {
        let names = settings.origins.localRoot.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) }
        if names?.contains("sample.jpg") == true { return "sample.jpg" }
        let first = names?.sorted().first { name in
            name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
                && ["jpg", "jpeg", "png", "webp", "gif"].contains(URL(fileURLWithPath: name).pathExtension)
        }
        return first ?? (settings.access.playground ? "samples/coffee.jpg" : nil)
    }
}
