import Foundation
import Logging

/// Writes each event as one line on standard error: text for people, or JSON for machines.
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
        // A closed pipe must not end the server.
        try? FileHandle.standardError.write(contentsOf: Data((line(event) + "\n").utf8))
    }

    /// The line of an event, without the line break.
    func line(_ event: LogEvent, at time: Date = Date()) -> String {
        let line = LogLine(
            time: time, level: event.level, message: "\(event.message)",
            fields: metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 })
        return format == .json ? line.json : line.text
    }
}

/// The format of log lines.
enum LogFormat: String, CaseIterable, Sendable {
    case text, json
}

/// An event as one line. Untrusted text in it cannot start a new line or field, and cannot carry terminal escapes.
struct LogLine {
    let time: Date
    let level: Logger.Level
    let message: String
    let fields: Logger.Metadata

    /// `2026-11-21T10:00:00.000Z info request method=GET path="/a b"`. Values beyond plain ASCII words are quoted, with
    /// quotes, backslashes and unprintable characters escaped as in Swift.
    var text: String {
        let details = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.word("\($0.value)"))" }.joined()
        return "\(Self.format(time)) \(level) \(Self.escaped(message))\(details)"
    }

    /// A JSON object of the fields, `time`, `level` and `message`.
    var json: String {
        var object = fields.mapValues(Value.init)
        object["time"] = .text(Self.format(time))
        object["level"] = .text("\(level)")
        object["message"] = .text(message)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(object)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// RFC 3339, with milliseconds.
    private static func format(_ time: Date) -> String {
        time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private static func word(_ text: String) -> String {
        let isPlain = { (byte: UInt8) in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
        return !text.isEmpty && text.utf8.allSatisfy(isPlain) ? text : "\"\(escaped(text))\""
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            default:
                if scalar == "\"" || scalar == "\\" { escaped += "\\" }
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// The JSON value of a field; numbers and booleans keep their type.
    private enum Value: Encodable {
        case text(String)
        case integer(Int)
        case decimal(Double)
        case boolean(Bool)

        init(_ value: Logger.Metadata.Value) {
            guard case .stringConvertible(let given) = value else {
                self = .text("\(value)")
                return
            }
            switch given {
            case let given as Int: self = .integer(given)
            case let given as Double where given.isFinite: self = .decimal(given)
            case let given as Bool: self = .boolean(given)
            default: self = .text("\(given)")
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .integer(let number): try container.encode(number)
            case .decimal(let number): try container.encode(number)
            case .boolean(let value): try container.encode(value)
            }
        }
    }
}
