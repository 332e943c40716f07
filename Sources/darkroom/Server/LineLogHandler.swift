import Foundation
import Logging

/// One line an event on standard error: words for people, or JSON for machines.
struct LineLogHandler: LogHandler {
    let format: LogFormat
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()

    init(format: LogFormat) {
        self.format = format
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
        let line = format == .json ? json(event, fields) : text(event, fields)
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    private func text(_ event: LogEvent, _ fields: [String: String]) -> String {
        let details = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.oneLine($0.value))" }.joined()
        return "\(Self.now) \(event.level) \(Self.oneLine("\(event.message)"))\(details)"
    }

    private func json(_ event: LogEvent, _ fields: [String: String]) -> String {
        var object = fields
        object["time"] = Self.now
        object["level"] = "\(event.level)"
        object["message"] = "\(event.message)"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(object)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// RFC 3339, with milliseconds.
    private static var now: String {
        Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// Foreign text can neither begin a line of its own nor steer a terminal.
    private static func oneLine(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return text }
        return String(
            text.map { $0.isNewline || $0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } ? " " : $0 })
    }
}
