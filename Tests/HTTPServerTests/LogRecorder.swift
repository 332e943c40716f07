import Logging
import Synchronization

@testable import DarkroomHTTPServer

/// Keeps the entries of an access log.
final class AccessLogRecorder: Sendable {
    private let recorded = Mutex<[AccessLogEntry]>([])

    var entries: [AccessLogEntry] { recorded.withLock(\.self) }

    func record(_ entry: AccessLogEntry) { recorded.withLock { $0.append(entry) } }
}

/// Keeps what is logged.
final class LogRecorder: Sendable {
    struct Line: Sendable {
        var message: String
        var metadata: [String: String]
    }

    private let recorded = Mutex<[Line]>([])

    var lines: [Line] { recorded.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { [self] _ in Handler(recorder: self) } }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = Line(
                message: "\(event.message)", metadata: (event.metadata ?? [:]).mapValues { "\($0)" })
            recorder.recorded.withLock { $0.append(line) }
        }
    }
}
