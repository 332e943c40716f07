import DarkroomHTTPServer
import DarkroomNetwork
import Foundation
import Logging

enum LogFormat: String, CaseIterable, Sendable {
    case text, json, logfmt
}

/// Formats log lines: text for people, JSON or logfmt for machines. Untrusted text in a line cannot start a new line or
/// field; except in JSON it cannot carry terminal escapes either.
///
/// Text is `2026-11-21T10:00:00.000Z info request method=GET path="/a b"`, with the fields sorted by name. JSON is an
/// object of the fields and of `time`, `level` and `message`, sorted by name. Logfmt is
/// `time=2026-11-21T10:00:00.000Z level=info msg=request method=GET path="/a b"`.
struct LineFormatter {
    private let format: LogFormat
    /// The lines, each with its line break.
    private(set) var bytes: [UInt8] = []
    /// The text of a second of the clock, up to its fraction: most lines share it with the previous line.
    private var second: (number: Double, text: String) = (-.infinity, "")

    init(_ format: LogFormat) {
        self.format = format
    }

    /// Removes the lines but keeps their memory for the next lines.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func append(_ lines: [UInt8]) { bytes += lines }

    mutating func append(_ entry: AccessLogEntry, at time: Date) {
        begin(.info, "request", at: time)
        var details = entry.details.fields[...]
        append("bytes", entry.bytes.map { .plain($0) }, after: &details)
        append("cache", entry.cacheStatus.map(Value.text), after: &details)
        append("client", (entry.client?.description).map(Value.text), after: &details)
        append("disconnected", entry.isDisconnected ? .plain(true) : nil, after: &details)
        // Rounded to microseconds.
        append(
            "duration-ms", .plain((entry.duration / .microseconds(1)).rounded() / 1_000), after: &details)
        append("level", format == .json ? .text("info") : nil, after: &details)
        append("message", format == .json ? .text("request") : nil, after: &details)
        append("method", .text(entry.method), after: &details)
        append("path", .text(entry.path), after: &details)
        append("problem", entry.problem.map(Value.text), after: &details)
        append("request-id", .text(entry.requestID), after: &details)
        append("status", .plain(entry.status), after: &details)
        append("time", format == .json ? .text(text(time)) : nil, after: &details)
        append("trace-id", entry.traceID.map(Value.text), after: &details)
        for detail in details { append(detail.name, Value(detail.value)) }
        end()
    }

    /// Appends a field of an entry, if it has a value, after the details with names that sort before it.
    private mutating func append(
        _ name: String, _ value: Value?, after details: inout ArraySlice<AccessLogDetails.Field>
    ) {
        guard let value else { return }
        while let detail = details.first, detail.name < name {
            append(detail.name, Value(detail.value))
            details.removeFirst()
        }
        append(name, value)
    }

    /// Appends any other event.
    mutating func append(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, at time: Date) {
        var fields = metadata.mapValues(Value.init)
        switch format {
        case .text: break
        case .json:
            fields["time"] = .text(text(time))
            fields["level"] = .text(level.rawValue)
            fields["message"] = .text(message)
        case .logfmt: for name in ["time", "level", "msg"] { fields[name] = nil }
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
            bytes.appendEscaped(message, .text)
        case .json: bytes.append(UInt8(ascii: "{"))
        case .logfmt:
            bytes += "time=\(text(time)) level=\(level.rawValue) msg=".utf8
            bytes.appendWord(message, .logfmt)
        }
    }

    private mutating func append(_ name: String, _ value: Value) {
        switch format {
        case .text, .logfmt:
            bytes.append(UInt8(ascii: " "))
            bytes += name.utf8
            bytes.append(UInt8(ascii: "="))
            bytes.appendWord(value.text, format)
        case .json:
            if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
            bytes.appendJSON(name)
            bytes.append(UInt8(ascii: ":"))
            if value.isQuoted { bytes.appendJSON(value.text) } else { bytes += value.text.utf8 }
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
        let milliseconds = String(Int((seconds - number) * 1_000))
        return second.text + (milliseconds.utf8.count == 3 ? "." : milliseconds.utf8.count == 2 ? ".0" : ".00")
            + milliseconds + "Z"
    }

    /// The value of a field; numbers and booleans keep their type in JSON.
    fileprivate struct Value {
        let text: String
        /// Whether it is a string in JSON.
        let isQuoted: Bool

        static func text(_ text: String) -> Value { Value(text: text, isQuoted: true) }

        static func plain(_ value: some CustomStringConvertible) -> Value {
            Value(text: value.description, isQuoted: false)
        }
    }
}

extension LineFormatter.Value {
    fileprivate init(_ value: AccessLogDetails.Value) {
        switch value {
        case .text(let text): self = .text(text)
        case .number(let number): self = .plain(number)
        }
    }

    fileprivate init(_ value: Logger.Metadata.Value) {
        switch value {
        case .stringConvertible(let number as Int): self = .plain(number)
        case .stringConvertible(let number as Double) where number.isFinite: self = .plain(number)
        case .stringConvertible(let boolean as Bool): self = .plain(boolean)
        default: self = .text("\(value)")
        }
    }
}
