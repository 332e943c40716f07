import Foundation
import Logging

/// One line an event on standard error: words for people, or JSON for machines.
struct LineLogHandler: LogHandler {
    let format: LogFormat
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?

    init(format: LogFormat) {
        self.format = format
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // Who reads the log may have gone; that must not end the server.
        try? FileHandle.standardError.write(contentsOf: Data((line(event) + "\n").utf8))
    }

    /// The event as it is written, but for the line break.
    func line(_ event: LogEvent, at time: Date = Date()) -> String {
        let line = LogLine(
            time: time, level: event.level, message: "\(event.message)",
            fields: metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 })
        return format == .json ? line.json : line.text
    }
}
