import DarkroomNetwork
import Foundation
import Logging
import Testing

@testable import DarkroomCommand
@testable import DarkroomHTTPServer

struct LineFormatterTests {
    private static let epoch = Date(timeIntervalSince1970: 0)

    private func line(_ format: LogFormat, _ message: String, _ metadata: Logger.Metadata) -> String {
        var formatter = LineFormatter(format)
        formatter.append(.info, message, metadata, at: Self.epoch)
        return String(decoding: formatter.bytes, as: UTF8.self)
    }

    private func line(_ format: LogFormat, _ entry: AccessLogEntry, at time: Date = epoch) -> String {
        var formatter = LineFormatter(format)
        formatter.append(entry, at: time)
        return String(decoding: formatter.bytes, as: UTF8.self)
    }

    private let entry = AccessLogEntry(
        method: "GET", path: "/image", status: 200, bytes: 9214, duration: .nanoseconds(213_600), requestID: "7",
        traceID: "4b", client: IPAddress("192.0.2.7"), cacheStatus: "darkroom;hit;ttl=7", isDisconnected: true)
    private let sparse = AccessLogEntry(
        method: "GET", path: "/a", status: 404, bytes: nil, duration: .milliseconds(12), requestID: "8")
    private var detailed: AccessLogEntry {
        var entry = sparse
        entry.problem = "origin-failed"
        entry.details = AccessLogDetails([
            "origin-error": .text("dns_error"), "width": .number(40), "a": .text("b"), "source-host": .text("a.org"),
        ])
        return entry
    }

    @Test func `A line of text is time, level, message and fields in order`() {
        let text = line(
            .text, "request", ["status": .stringConvertible(200), "path": "/image", "cache": "darkroom;hit;ttl=7"])
        #expect(text == "1970-01-01T00:00:00.000Z info request cache=darkroom;hit;ttl=7 path=/image status=200\n")
    }

    @Test func `A request is a line of text with its fields in order`() {
        #expect(
            line(.text, entry, at: Date(timeIntervalSince1970: 1_800_000_000.25)) == """
                2027-01-15T08:00:00.250Z info request bytes=9214 cache=darkroom;hit;ttl=7 client=192.0.2.7 \
                disconnected=true duration-ms=0.214 method=GET path=/image request-id=7 status=200 trace-id=4b\n
                """)
        #expect(
            line(.text, sparse) == """
                1970-01-01T00:00:00.000Z info request duration-ms=12.0 method=GET path=/a request-id=8 status=404\n
                """)
    }

    @Test func `A request is an object of JSON with its fields in order`() {
        #expect(
            line(.json, entry) == """
                {"bytes":9214,"cache":"darkroom;hit;ttl=7","client":"192.0.2.7","disconnected":true,\
                "duration-ms":0.214,"level":"info","message":"request","method":"GET","path":"/image",\
                "request-id":"7","status":200,"time":"1970-01-01T00:00:00.000Z","trace-id":"4b"}\n
                """)
        #expect(line(.json, sparse).hasPrefix(#"{"duration-ms":12.0,"level":"info","#))
    }

    @Test func `A request is a line of logfmt with its fields in order`() {
        #expect(
            line(.logfmt, entry, at: Date(timeIntervalSince1970: 1_800_000_000.25)) == """
                time=2027-01-15T08:00:00.250Z level=info msg=request bytes=9214 cache="darkroom;hit;ttl=7" \
                client=192.0.2.7 disconnected=true duration-ms=0.214 method=GET path=/image request-id=7 status=200 \
                trace-id=4b\n
                """)
    }

    @Test(arguments: LogFormat.allCases)
    func `An endpoint's details are among the fields of a request, in order`(format: LogFormat) {
        let words = line(format, detailed).matches(of: /[a-z-]+(?=["]?[=:])/).map { String($0.output) }
        let names = words.filter { !["time", "level", "message", "msg"].contains($0) }
        #expect(
            names == [
                "a", "duration-ms", "method", "origin-error", "path", "problem", "request-id", "source-host",
                "status", "width",
            ])
        #expect(line(format, detailed).contains(format == .json ? #""width":40}"# : " width=40\n"))
    }

    @Test func `Any other event is a line of logfmt, whose message and metadata cannot forge a field`() {
        let metadata: Logger.Metadata = ["level": "forged", "msg": "forged", "time": "forged", "count": "7"]
        #expect(
            line(.logfmt, "lines=\"dropped\"", metadata)
                == #"time=1970-01-01T00:00:00.000Z level=info msg="lines=\"dropped\"" count=7"# + "\n")
    }

    @Test(arguments: [
        ("/a b status=500", #""/a b status=500""#), ("a=b", #""a=b""#), ("", #""""#), (#"a"b\"#, #""a\"b\\""#),
        ("a\nb\r\tc", #""a\nb\r\tc""#), ("\u{1b}[2J\u{7f}\u{0}", #""\u001b[2J\u007f\u0000""#),
        ("\u{85}\u{2028}\u{202e}\u{9b}", #""\u0085\u2028\u202e\u009b""#), ("\u{e0001}", #""\udb40\udc01""#),
        ("grün", #""grün""#), ("/a;b?c&d", "/a;b?c&d"),
    ])
    func `Untrusted text stays within its field of logfmt, and is quoted like JSON`(
        text: String, value: String
    ) throws {
        var entry = sparse
        entry.path = text
        entry.details = AccessLogDetails(["source-host": .text(text)])
        for line in [line(.logfmt, entry), line(.logfmt, "request", ["path": "\(text)", "request-id": "8"])] {
            #expect(line.contains(" path=\(value) request-id=8"))
            #expect(!line.dropLast().utf8.contains { $0 < 0x20 || $0 == 0x7F })
        }
        #expect(line(.logfmt, entry).contains(" source-host=\(value) status="))
        if value.hasPrefix("\"") {
            #expect(try JSONDecoder().decode([String].self, from: Data("[\(value)]".utf8)) == [text])
        }
    }

    @Test func `Lines that share a second differ in their milliseconds, and the next second is another`() {
        var formatter = LineFormatter(.text)
        for time in [0.001, 0.5, 0.9996, 1, 59.75, 0.25] {
            formatter.append(.info, "x", [:], at: Date(timeIntervalSince1970: time))
        }
        #expect(
            String(decoding: formatter.bytes, as: UTF8.self).split(separator: "\n").map { $0.prefix(24).suffix(7) }
                == ["00.001Z", "00.500Z", "00.999Z", "01.000Z", "59.750Z", "00.250Z"])
    }

    @Test(arguments: [
        ("/a b status=500", #"path="/a b status=500""#), ("", #"path="""#), (#"a"b\"#, #"path="a\"b\\""#),
        ("a\nb\r\u{1b}[2J", #"path="a\u{a}b\u{d}\u{1b}[2J""#), ("\r\n", #"path="\u{d}\u{a}""#),
        ("a\u{85}\u{2028}\u{202e}b\u{9b}", #"path="a\u{85}\u{2028}\u{202e}b\u{9b}""#), ("grün", #"path="grün""#),
    ])
    func `Untrusted text stays within its field`(path: String, field: String) {
        #expect(line(.text, "request", ["path": "\(path)"]) == "1970-01-01T00:00:00.000Z info request \(field)\n")
        var entry = sparse
        entry.path = path
        #expect(line(.text, entry).contains(" \(field) request-id=8 "))
        #expect(line(.text, "one\ntwo", [:]).hasSuffix("info one\\u{a}two\n"))
    }

    @Test(arguments: [
        "a\nb\t\u{1f}", "\u{1b}[2J\"},{\"level\":\"error", "\u{2028}\\", "\u{0}", "grün 🖼", "\u{7f}\u{9b}",
    ])
    func `Untrusted text stays within one line of valid JSON`(path: String) throws {
        let text = line(.json, "request", ["path": "\(path)", "level": "forged", "list": ["a", "b"]])
        #expect(!text.dropLast().utf8.contains { $0 < 0x20 })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String])
        #expect(object["path"] == path)
        #expect(object["level"] == "info")
        #expect(object["time"] == "1970-01-01T00:00:00.000Z")
        var entry = sparse
        (entry.path, entry.method) = (path, path)
        let request = try #require(
            try JSONSerialization.jsonObject(with: Data(line(.json, entry).utf8)) as? [String: Any])
        #expect(request["path"] as? String == path && request["method"] as? String == path)
        #expect(request["level"] as? String == "info" && request.count == 8)
    }

    @Test func `Numbers are numbers in JSON`() {
        let fields: Logger.Metadata = [
            "status": .stringConvertible(200), "took": .stringConvertible(1.25), "gone": .stringConvertible(true),
            "odd": .stringConvertible(Double.nan),
        ]
        let text = line(.json, "request", fields)
        #expect(text.contains(#""gone":true,"#) && text.contains(#""status":200,"#))
        #expect(text.contains(#""odd":"nan","#) && text.hasSuffix("\"took\":1.25}\n"))
    }

    @Test func `Metadata of the request is in each line, and metadata of the event takes precedence`() {
        var handler = LineLogHandler(writer: LogWriter(format: .text))
        handler.metadataProvider = Logger.MetadataProvider { ["request-id": "7", "a": "1"] }
        let event = LogEvent(
            level: .info, message: "x", metadata: ["a": "2"], source: "", file: "", function: "", line: 1)
        #expect(String(decoding: handler.line(event), as: UTF8.self).hasSuffix(" info x a=2 request-id=7\n"))
    }
}
