import Logging
import Synchronization

/// Records log lines as `level: message [metadata]`.
final class LogRecorder: Sendable {
    private let recorded = Mutex<[String]>([])

    var lines: [String] { recorded.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

    /// How many lines contain this text.
    func count(of text: String) -> Int { lines.count { $0.contains(text) } }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            recorder.recorded.withLock { $0.append("\(event.level): \(event.message) \(event.metadata ?? [:])") }
        }
    }
}
