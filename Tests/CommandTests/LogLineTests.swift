import Foundation
import Logging
import Testing

@testable import DarkroomCommand

struct LogLineTests {
    private func line(_ format: LogFormat, _ message: String, _ metadata: Logger.Metadata) -> String {
        let event = LogEvent(
            level: .info, message: "\(message)", metadata: metadata, source: "", file: "", function: "", line: 1)
        return LineLogHandler(format: format).line(event, at: Date(timeIntervalSince1970: 0))
    }

    @Test func `a line of text is time, level, message and fields in order`() {
        let text = line(
            .text, "request", ["status": .stringConvertible(200), "path": "/image", "cache": "darkroom;hit;ttl=7"])
        #expect(text == "1970-01-01T00:00:00.000Z info request cache=darkroom;hit;ttl=7 path=/image status=200")
    }

    @Test(arguments: [
        ("/a b status=500", #"path="/a b status=500""#), ("", #"path="""#), (#"a"b\"#, #"path="a\"b\\""#),
        ("a\nb\r\u{1b}[2J", #"path="a\u{a}b\u{d}\u{1b}[2J""#), ("\r\n", #"path="\u{d}\u{a}""#),
        ("a\u{85}\u{2028}\u{202e}b\u{9b}", #"path="a\u{85}\u{2028}\u{202e}b\u{9b}""#), ("grün", #"path="grün""#),
    ])
    func `untrusted text stays within its field`(path: String, field: String) {
        #expect(line(.text, "request", ["path": "\(path)"]) == "1970-01-01T00:00:00.000Z info request \(field)")
        #expect(line(.text, "one\ntwo", [:]).hasSuffix(#"info one\u{a}two"#))
    }

    @Test(arguments: ["a\nb", "\u{1b}[2J\"},{\"level\":\"error", "\u{2028}", "\u{0}", "grün"])
    func `untrusted text stays within one line of valid JSON`(path: String) throws {
        let text = line(.json, "request", ["path": "\(path)", "level": "forged", "list": ["a", "b"]])
        #expect(!text.utf8.contains { $0 < 0x20 })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String])
        #expect(object["path"] == path)
        #expect(object["level"] == "info")
        #expect(object["time"] == "1970-01-01T00:00:00.000Z")
    }

    @Test func `numbers are numbers in JSON`() {
        let fields: Logger.Metadata = [
            "status": .stringConvertible(200), "took": .stringConvertible(1.25), "gone": .stringConvertible(true),
        ]
        let text = line(.json, "request", fields)
        #expect(text.contains(#""gone":true,"#) && text.contains(#""status":200,"#) && text.contains(#""took":1.25}"#))
    }

    @Test func `metadata of the request is in each line, and metadata of the event takes precedence`() {
        var handler = LineLogHandler(format: .text)
        handler.metadataProvider = Logger.MetadataProvider { ["request-id": "7", "a": "1"] }
        let event = LogEvent(
            level: .info, message: "x", metadata: ["a": "2"], source: "", file: "", function: "", line: 1)
        #expect(handler.line(event).hasSuffix(" info x a=2 request-id=7"))
    }
}
