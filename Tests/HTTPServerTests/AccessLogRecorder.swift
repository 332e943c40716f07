import Synchronization

@testable import DarkroomHTTPServer

/// Keeps the entries of an access log.
final class AccessLogRecorder: Sendable {
    private let recorded = Mutex<[AccessLogEntry]>([])

    var entries: [AccessLogEntry] { recorded.withLock(\.self) }

    func record(_ entry: AccessLogEntry) { recorded.withLock { $0.append(entry) } }
}
