import HTTPTypes
import Synchronization
import Testing

@testable import DarkroomHTTPServer

struct AccessLogTests {
    @Test func `Details are sorted by name, and details without a value are left out`() {
        let details = AccessLogDetails(["width": .number(3), "origin-error": nil, "format": .text("png")])
        #expect(details.fields.map(\.name) == ["format", "width"])
        #expect(details.fields.map(\.value) == [.text("png"), .number(3)])
        #expect(details.byteCount == "formatpngwidth".utf8.count)
    }

    @Test func `A detail is truncated like all text that clients choose`() throws {
        let details = AccessLogDetails(["source-host": .text(String(repeating: "ä", count: 10_000))])
        guard case .text(let text) = try #require(details.fields.first).value else { return #expect(Bool(false)) }
        #expect(text.utf8.count < 300 && text.hasSuffix("…"))
    }

    @Test func `An entry has what the endpoint reports, and the kind of a problem`() async throws {
        let log = AccessLogRecorder()
        let details = AccessLogDetails(["tier": .text("memory")])
        _ = try await ListenerConfiguration.test(log: log, details: details).respond("/item")
        let failing = ListenerConfiguration.test(log: log, details: details) { _ throws(Problem) in throw .shuttingDown
        }
        _ = try await failing.respond("/item")
        for (target, method) in [("/nowhere", HTTPRequest.Method.get), ("/item", .delete), ("/refuse", .post)] {
            _ = try await failing.respond(target, method: method)
        }
        #expect(log.entries.map(\.details) == [details, details, .none, .none, .none])
        #expect(
            log.entries.map(\.problem)
                == [nil, "unavailable", "no-such-route", "method-not-allowed", "rate-limited"])
    }

    @Test(arguments: [
        (true, true, 0, 1), (true, false, 0, 1), (false, false, 0, 1), (false, true, 0, 0), (false, true, 999, 0),
        (false, true, 1_000, 1),
    ])
    func `Hits can be left out, except slow ones`(
        logsHits: Bool, isHit: Bool, milliseconds: Int, expected: Int
    ) {
        let log = AccessLogRecorder()
        AccessLog(logsHits: logsHits) { log.record($0) }
            .record(
                AccessLogEntry(
                    method: "GET", path: "/", status: 200, duration: .milliseconds(milliseconds), requestID: "7",
                    details: AccessLogDetails([:], isHit: isHit)))
        #expect(log.entries.count == expected)
    }

    @Test func `The endpoint says whether its response is a hit`() async throws {
        let log = AccessLogRecorder()
        for isHit in [true, false] {
            let details = AccessLogDetails(["tier": .text("\(isHit)")], isHit: isHit)
            _ = try await ListenerConfiguration.test(log: log, logsHits: false, details: details).respond("/item")
        }
        #expect(log.entries.map(\.details.fields.first?.value) == [.text("false")])
    }
}
