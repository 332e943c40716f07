import DarkroomWeb
import Hummingbird
import ServiceLifecycle

/// The server at one of its doors.
struct ListenerService: Service {
    let door: Listener
    let application: any ApplicationProtocol

    /// Throws a ``ListenerFailure``.
    func run() async throws {
        do {
            try await application.run()
        } catch {
            throw ListenerFailure(door: door, reason: error)
        }
    }
}

/// A door that could not be opened.
struct ListenerFailure: Error {
    let door: Listener
    let reason: any Error
}

extension ListenerFailure {
    /// A sentence that names the settings at fault.
    func sentence(_ settings: Settings) -> String {
        switch door {
        case .main: "host and port: cannot listen on \(settings.host):\(settings.port) (\(reason))."
        case .admin:
            "admin-host and admin-port: cannot listen on \(settings.adminHost):\(settings.adminPort ?? 0) (\(reason))."
        }
    }
}
