import ArgumentParser
import AsyncHTTPClient
import DarkroomHTTPClient
import DarkroomNetwork
import Foundation
import NIOCore
import NIOHTTP1

struct CheckHealth: AsyncParsableCommand, SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Report whether the server is ready.",
        usage: "darkroom health [--url http://127.0.0.1:8080] [--config FILE] [--SETTING VALUE ...]",
        discussion: """
            Requests /health/ready and exits with 0 if the server is ready. Otherwise it prints one line with the \
            reason and exits with 1. Containers can use it as a probe and need no curl. Host and port, or the Unix \
            socket, come from the same flags, environment and file as for 'darkroom serve'; --url takes precedence.
            """)

    static let ownFlags: Set<String> = ["url"]

    @Argument(parsing: .captureForPassthrough, help: .hidden) var arguments: [String] = []

    func run() async throws {
        let flags = try self.flags()
        do throws(SettingError) {
            let probe = try Self.probe(flags)
            try await probe.run()
            StandardOutput.note("\(probe.name): ready")
        } catch {
            StandardError.write(error.description)
            throw ExitCode.failure
        }
    }

    private static func probe(_ flags: SettingFlags) throws(SettingError) -> ReadinessProbe {
        guard let url = flags.others["url"] else {
            return try probe(Settings(unchecked: SettingSources(flags: flags.values, file: flags.config)))
        }
        return ReadinessProbe(server: try SettingKind.webURL.read(url, of: "--url"))
    }

    /// The probe of the server with these settings, on this machine.
    static func probe(_ settings: Settings) throws(SettingError) -> ReadinessProbe {
        if let path = settings.listeners.unixSocket { return ReadinessProbe(unixSocket: path) }
        let (host, port) = (settings.listeners.host, settings.listeners.port)
        guard port != 0 else { throw SettingError("port is 0, a free port that the server chose; name it with --url.") }
        // A server that listens on every address is probed on loopback.
        switch IPAddress(host) {
        case .v4(0): return ReadinessProbe(server: "http://127.0.0.1:\(port)")
        case .v6(0): return ReadinessProbe(server: "http://[::1]:\(port)")
        case .v6: return ReadinessProbe(server: "http://[\(host)]:\(port)")
        case .v4, nil: return ReadinessProbe(server: "http://\(host):\(port)")
        }
    }
}

/// A request to `/health/ready`.
struct ReadinessProbe {
    let url: String
    /// The probed server, for people: the URL, or the Unix socket.
    let name: String
    /// The time for connection and response.
    var timeout = TimeAmount.seconds(3)

    /// Throws unless the server is ready, with the reason.
    func run() async throws(SettingError) {
        var configuration = HTTPClient.Configuration.exact()
        // Retries would hide the reason behind a timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let reason = await reason(client)
        try? await client.shutdown()
        if let reason { throw SettingError("\(name): \(reason)") }
    }

    /// Why the server is not ready; nil if it is.
    private func reason(_ client: HTTPClient) async -> String? {
        do {
            let response = try await client.execute(HTTPClientRequest(exactly: url), timeout: timeout)
            if response.status == .ok { return nil }
            let body = try await response.body.collect(upTo: 64 << 10)
            let problem = try? JSONDecoder().decode(Problem.self, from: Data(body.readableBytesView))
            return problem?.detail ?? "status \(response.status.code)."
        } catch let error as HTTPClientError where [.deadlineExceeded, .connectTimeout].contains(error) {
            return "no response within \(timeout.nanoseconds / 1_000_000) ms."
        } catch {
            return ConnectionFailure.reason(error)
        }
    }

    private struct Problem: Decodable {
        let detail: String
    }
}

extension ReadinessProbe {
    /// - Parameter server: the base URL of the server, without a trailing slash.
    init(server: String) {
        self.init(url: server + "/health/ready", name: server + "/health/ready")
    }

    /// - Parameter path: the path of the server's Unix socket.
    init(unixSocket path: String) {
        // The scheme of AsyncHTTPClient for Unix sockets: the path takes the place of the host.
        let host = path.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? path
        self.init(url: "http+unix://\(host)/health/ready", name: "unix:\(path)")
    }
}
