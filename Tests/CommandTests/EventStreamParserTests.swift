import NIOCore
import Testing

@testable import DarkroomCommand

@Suite struct EventStreamParserTests {
    typealias Event = EventStreamParser.Event

    private func events(_ parts: [String]) throws -> [Event] {
        var parser = EventStreamParser()
        return try parts.flatMap { try parser.read(ByteBuffer(string: $0)) }
    }

    @Test(
        arguments: [
            ("event: progress\ndata: {}\n\n", [Event(name: "progress", data: "{}")]),
            ("data: a\n\ndata: b\n\n", [Event(name: "message", data: "a"), Event(name: "message", data: "b")]),
            (": still here\n\n", []), ("event: end\n\n", []),
            ("data: a\ndata:b\n\n", [Event(name: "message", data: "a\nb")]),
            ("event: end\r\ndata: a\r\n\r\n", [Event(name: "end", data: "a")]),
            ("event: end\rdata: a\r\r", [Event(name: "end", data: "a")]),
            ("data\n\n", [Event(name: "message", data: "")]),
            ("id: 1\nretry: 5\ndata:  a\n\n", [Event(name: "message", data: " a")]), ("data: a\n", []),
        ] as [(String, [Event])])
    func `Fields make events, however the bytes are divided`(stream: String, expected: [Event]) throws {
        #expect(try events([stream]) == expected)
        #expect(try events(stream.unicodeScalars.map { String($0) }) == expected)
    }

    @Test func `An event without end is refused`() throws {
        var parser = EventStreamParser()
        let part = ByteBuffer(repeating: UInt8(ascii: "a"), count: 1 << 20)
        for _ in 0..<8 { _ = try parser.read(part) }
        #expect(throws: EventStreamParser.TooLong.self) { try parser.read(part) }
        // Its lines count together.
        parser = EventStreamParser()
        let line = ByteBuffer(string: "data: " + String(repeating: "a", count: 1 << 20) + "\n")
        for _ in 0..<7 { _ = try parser.read(line) }
        #expect(throws: EventStreamParser.TooLong.self) { for _ in 0..<2 { _ = try parser.read(line) } }
    }
}
