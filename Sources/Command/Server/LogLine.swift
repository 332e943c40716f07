import Foundation
import Logging

/// An event as one line. Foreign text in it can neither begin a line or a field of its own nor steer a terminal.
struct LogLine {
    let time: Date
    let level: Logger.Level
    let message: String
    let fields: Logger.Metadata

    /// `2026-11-21T10:00:00.000Z info request method=GET path="/a b"`: what is more than plain ASCII is quoted, its quotes,
    /// backslashes and unprintable characters escaped as in Swift.
    var text: String {
        let details = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.word("\($0.value)"))" }.joined()
        return "\(Self.format(time)) \(level) \(Self.escaped(message))\(details)"
    }

    /// One object: the fields, `time`, `level` and `message`.
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

    /// A field's value; numbers and booleans stay what they are.
    private enum Value: Encodable {
        case text(String)
        case whole(Int)
        case decimal(Double)
        case boolean(Bool)

        init(_ value: Logger.Metadata.Value) {
            guard case .stringConvertible(let given) = value else {
                self = .text("\(value)")
                return
            }
            switch given {
            case let given as Int: self = .whole(given)
            case let given as Double where given.isFinite: self = .decimal(given)
            case let given as Bool: self = .boolean(given)
            default: self = .text("\(given)")
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .whole(let number): try container.encode(number)
            case .decimal(let number): try container.encode(number)
            case .boolean(let value): try container.encode(value)
            }
        }
    }
}
