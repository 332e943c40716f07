import DarkroomHTTPServer
import DarkroomNetwork
import Foundation
import Logging

/// The format of log lines.
enum LogFormat: String, CaseIterable, Sendable {
    case text, json
}

/// Formats log lines: text for people, or JSON for machines. Untrusted text in a line cannot start a new line or field;
/// in text it cannot carry terminal escapes either.
///
/// Text is `2026-11-21T10:00:00.000Z info request method=GET path="/a b"`, with the fields sorted by name. JSON is an
/// object of the fields and of `time`, `level` and `message`, sorted by name.
struct LineFormatter {
    private let format: LogFormat
    /// The lines, each with its line break.
    private(set) var bytes: [UInt8] = []
    /// The text of a second of the clock, up to its fraction: most lines share it with the one before.
    private var second: (number: Double, text: String) = (-.infinity, "")

    init(_ format: LogFormat) {
        self.format = format
    }

    /// Removes the lines but keeps their memory for the next ones.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends formatted lines.
    mutating func append(_ lines: [UInt8]) { bytes += lines }

    /// Appends an entry of the access log.
    mutating func append(_ entry: AccessLogEntry, at time: Date) {
        begin(.info, "request", at: time)
        if let bytes = entry.bytes { append("bytes", .integer(bytes)) }
        if let cache = entry.cacheStatus { append("cache", .text(cache)) }
        if let client = entry.client { append("client", .text(client.description)) }
        if entry.isDisconnected { append("disconnected", .boolean(true)) }
        // Rounded to microseconds.
        append("duration-ms", .decimal((entry.duration / .microseconds(1)).rounded() / 1_000))
        if format == .json {
            append("level", .text("info"))
            append("message", .text("request"))
        }
        append("method", .text(entry.method))
        append("path", .text(entry.path))
        append("request-id", .text(entry.requestID))
        append("status", .integer(entry.status))
        if format == .json { append("time", .text(text(time))) }
        if let trace = entry.traceID { append("trace-id", .text(trace)) }
        end()
    }

    /// Appends any other event.
    mutating func append(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, at time: Date) {
        var fields = metadata.mapValues(Value.init)
        if format == .json {
            fields["time"] = .text(text(time))
            fields["level"] = .text(level.rawValue)
            fields["message"] = .text(message)
        }
        begin(level, message, at: time)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { append(name, value) }
        end()
    }

    // MARK: Parts of a line

    private mutating func begin(_ level: Logger.Level, _ message: String, at time: Date) {
        switch format {
        case .text:
            bytes += text(time).utf8
            bytes += " \(level.rawValue) ".utf8
            bytes.appendEscaped(message)
        case .json: bytes.append(UInt8(ascii: "{"))
        }
    }

    private mutating func append(_ name: String, _ value: Value) {
        switch format {
        case .text:
            bytes.append(UInt8(ascii: " "))
            bytes += name.utf8
            bytes.append(UInt8(ascii: "="))
            bytes.appendWord(value.description)
        case .json:
            if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
            bytes.appendJSON(name)
            bytes.append(UInt8(ascii: ":"))
            if case .text(let text) = value { bytes.appendJSON(text) } else { bytes += value.description.utf8 }
        }
    }

    private mutating func end() {
        if format == .json { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: "\n"))
    }

    /// RFC 3339, with milliseconds.
    private mutating func text(_ time: Date) -> String {
        let seconds = time.timeIntervalSince1970
        let number = seconds.rounded(.down)
        if second.number != number {
            second = (number, String(Date(timeIntervalSince1970: number).formatted(.iso8601).dropLast()))
        }
        return "\(second.text).\(String(1_000 + Int((seconds - number) * 1_000)).dropFirst())Z"
    }

    /// The value of a field; numbers and booleans keep their type in JSON.
    private enum Value: CustomStringConvertible {
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

        var description: String {
            switch self {
            case .text(let text): text
            case .integer(let number): number.description
            case .decimal(let number): number.description
            case .boolean(let value): value.description
            }
        }
    }
}

extension [UInt8] {
    /// Appends a value of a line of text. Values beyond plain ASCII words are quoted.
    fileprivate mutating func appendWord(_ text: String) {
        let isPlain = { (byte: UInt8) in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
        if !text.isEmpty, text.utf8.allSatisfy(isPlain) {
            self += text.utf8
        } else {
            append(UInt8(ascii: "\""))
            appendEscaped(text)
            append(UInt8(ascii: "\""))
        }
    }

    /// Appends text with quotes, backslashes and unprintable characters escaped as in Swift.
    fileprivate mutating func appendEscaped(_ text: String) {
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                self += "\\u{\(String(scalar.value, radix: 16))}".utf8
            default:
                if scalar == "\"" || scalar == "\\" { append(UInt8(ascii: "\\")) }
                self += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
    }

    /// Appends a string of JSON (RFC 8259 §7), in quotes.
    fileprivate mutating func appendJSON(_ text: String) {
        append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): self += [UInt8(ascii: "\\"), byte]
            case 0x00..<0x20: self += "\\u\(String(0x1_0000 + Int(byte), radix: 16).dropFirst())".utf8
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }
}
