import NIOCore

/// Reads a stream of server-sent events (WHATWG HTML §9.2.6).
struct EventStreamParser {
    struct Event: Equatable {
        var name: String
        var data: String
    }

    /// An event is longer than ``maxBytes``.
    struct TooLong: Error {}

    /// The most bytes of an event.
    static let maxBytes = 8 << 20

    private var line: [UInt8] = []
    private var name = ""
    private var data: [UInt8]?
    /// Whether the last byte was a carriage return, after which a line feed means nothing.
    private var endsWithReturn = false

    /// The events that more bytes complete.
    mutating func read(_ bytes: ByteBuffer) throws(TooLong) -> [Event] {
        var events: [Event] = []
        // The elements of a view are read through the buffer, which takes many times longer.
        for byte in Array(bytes.readableBytesView) {
            let isContinued = endsWithReturn && byte == UInt8(ascii: "\n")
            endsWithReturn = byte == UInt8(ascii: "\r")
            if isContinued { continue }
            guard byte == UInt8(ascii: "\n") || endsWithReturn else {
                guard line.count + (data?.count ?? 0) < Self.maxBytes else { throw TooLong() }
                line.append(byte)
                continue
            }
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    /// The event that an empty line completes.
    private mutating func endLine() -> Event? {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else {
            defer { (name, data) = ("", nil) }
            return data.map { Event(name: name.isEmpty ? "message" : name, data: String(decoding: $0, as: UTF8.self)) }
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            // In place: with a copy for each line, many short lines would take quadratic time.
            if data == nil { data = [] } else { data?.append(UInt8(ascii: "\n")) }
            data?.append(contentsOf: value)
        // A comment, or a field that progress does not have.
        default: break
        }
        return nil
    }
}
