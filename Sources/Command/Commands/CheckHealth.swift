import ArgumentParser
import AsyncHTTPClient
import DarkroomNetwork
import DarkroomWeb
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// `darkroom health`
struct CheckHealth: AsyncParsableCommand, SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Report whether the server is ready.",
        usage: "darkroom health [--url http://127.0.0.1:8080] [--config FILE] [--SETTING VALUE ...]",
        discussion: """
            Requests /health/ready and exits with 0 if the server is ready. Otherwise it prints one line with the \
            reason and exits with 1. It is a probe for containers, which need no curl. Host and port are those of \
            'darkroom serve' with the same flags, environment and file; --url takes precedence.
            """)

    static let ownFlags: Set<String> = ["url"]

    @Argument(parsing: .captureForPassthrough, help: .hidden) var arguments: [String] = []

    func run() async throws {
        let flags = try self.flags()
        do throws(SettingError) {
            let probe: ReadinessProbe
            if let url = flags.others["url"] {
                probe = ReadinessProbe(server: try Self.serverURL(url))
            } else {
                probe = ReadinessProbe(server: try Self.serverURL(Settings(unchecked: SettingSources(flags))))
            }
            try await probe.run()
            print("\(probe.url): ready")
        } catch {
            StandardError.write(error.description)
            throw ExitCode.failure
        }
    }

    private static func serverURL(_ given: String) throws(SettingError) -> String {
        let kind = SettingKind<String>.webURL
        do throws(SettingRefusal) { return try kind.parse(.text(given)) } catch {
            throw SettingError(error.sentence(about: "--url", isSecret: false))
        }
    }

    /// The URL of the server with these settings, on this machine.
    static func serverURL(_ settings: Settings) throws(SettingError) -> String {
        let (host, port) = (settings.listeners.host, settings.listeners.port)
        guard port != 0 else { throw SettingError("port is 0, a free port that the server chose; name it with --url.") }
        // A server that listens on every address is asked on loopback.
        switch IPAddress(host) {
        case .v4(0): return "http://127.0.0.1:\(port)"
        case .v6(0): return "http://[::1]:\(port)"
        case .v6: return "http://[\(host)]:\(port)"
        case .v4, nil: return "http://\(host):\(port)"
        }
    }
}

/// A request to `/health/ready`.
struct ReadinessProbe {
    let url: String
    let timeout: TimeAmount

    /// - Parameters:
    ///   - server: the base URL of the server, without a trailing slash.
    ///   - timeout: the time for connection and response.
    init(server: String, timeout: TimeAmount = .seconds(3)) {
        url = server + "/health/ready"
        self.timeout = timeout
    }

    /// Throws unless the server is ready, with the reason.
    func run() async throws(SettingError) {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // Retries would hide the reason behind a timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let reason = await reason(client)
        try? await client.shutdown()
        if let reason { throw SettingError("\(url): \(reason)") }
    }

    /// Why the server is not ready; nil if it is.
    private func reason(_ client: HTTPClient) async -> String? {
        do {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: timeout)
            if response.status == .ok { return nil }
            let body = try await response.body.collect(upTo: 64 << 10)
            let problem = try? JSONDecoder().decode(Problem.self, from: Data(body.readableBytesView))
            return problem?.detail ?? "status \(response.status.code)."
        } catch {
            return reason(error)
        }
    }

    private func reason(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { reason($0.error) } ?? "the host name cannot be resolved."
        case let error as IOError: "\(String(cString: strerror(error.errnoCode)))."
        case let error as HTTPClientError where [.deadlineExceeded, .connectTimeout].contains(error):
            "no response within \(timeout.nanoseconds / 1_000_000) ms."
        default: "\(error)."
        }
    }

    private struct Problem: Decodable {
        let detail: String
    }
}
