package import Logging
import Synchronization

/// Keeps what is logged.
package final class LogRecorder: Sendable {
    /// One event. Its text is `level: message ["key": value]`.
    package struct Line: Sendable, CustomStringConvertible {
        package let message: String
        package let metadata: [String: String]
        package let description: String

        fileprivate init(_ event: LogEvent) {
            message = "\(event.message)"
            metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
            let pairs = metadata.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
            description = "\(event.level): \(message) [\(pairs.isEmpty ? ":" : pairs.joined(separator: ", "))]"
        }
    }

    private let recorded = Mutex<[Line]>([])
    private let level: Logger.Level

    /// - Parameter level: the least level that is kept.
    package init(level: Logger.Level = .trace) {
        self.level = level
    }

    package var events: [Line] { recorded.withLock(\.self) }

    /// The texts of the events.
    package var lines: [String] { events.map(\.description) }

    package var logger: Logger { Logger(label: "test") { [self] _ in Handler(recorder: self, logLevel: level) } }

    /// How many lines contain this text.
    package func count(of text: String) -> Int { lines.count { $0.contains(text) } }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            recorder.recorded.withLock { $0.append(Line(event)) }
        }
    }
}
