import DarkroomWeb
import Hummingbird
import ServiceLifecycle

/// The server at one of its doors.
struct DoorService: Service {
    let door: Door
    let application: any ApplicationProtocol

    /// Throws a ``DoorFailure``.
    func run() async throws {
        do {
            try await application.run()
        } catch {
            throw DoorFailure(door: door, reason: error)
        }
    }
}

/// A door that could not be opened.
struct DoorFailure: Error {
    let door: Door
    let reason: any Error
}

extension DoorFailure {
    /// A sentence that names the settings at fault.
    func sentence(_ settings: Settings) -> String {
        switch door {
        case .main: "host and port: cannot listen on \(settings.host):\(settings.port) (\(reason))."
        case .admin:
            "admin-host and admin-port: cannot listen on \(settings.adminHost):\(settings.adminPort ?? 0) (\(reason))."
        }
    }
}
