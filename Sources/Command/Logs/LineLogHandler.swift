import Foundation
import Logging

/// Sends each event to the ``LogWriter`` as one line.
struct LineLogHandler: LogHandler {
    let writer: LogWriter
    /// The level of this handler alone; nil = the level of the writer.
    private var ownLevel: Logger.Level?
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?

    init(writer: LogWriter) {
        self.writer = writer
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? writer.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        writer.append(line(event), level: event.level)
    }

    /// The line of an event, formatted here because its metadata belongs to the current task.
    func line(_ event: LogEvent, at time: Date = Date()) -> [UInt8] {
        var formatter = LineFormatter(writer.format)
        formatter.append(
            event.level, "\(event.message)",
            metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }, at: time)
        return formatter.bytes
    }
}
