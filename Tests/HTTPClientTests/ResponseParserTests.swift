import NIOCore
import NIOHTTP1
import Testing

@testable import DarkroomHTTPClient

private let ok = "HTTP/1.1 200 OK\r\n"

/// What a response means, however its bytes are divided.
struct ResponseParserTests {
    /// A parsed response: status, fields except framing fields, body, and whether the connection is kept.
    struct Outcome: Equatable {
        var status = 0
        var fields: [String] = []
        var body = ""
        var isWhole = false
        var keepsConnection = false
        var failure: ResponseParser.Failure?
    }

    @Test(
        "a regular response keeps its connection",
        arguments: [
            (ok + "Content-Length: 3\r\n\r\nabc", "abc"), (ok + "content-length:\t3 \r\n\r\nabc", "abc"),
            (ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nT: x\r\n\r\n", "abc"),
            (
                ok
                    + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n01\r\nb\r\nA\r\n0123456789\r\n0b\r\n01234567890\r\n0\r\n\r\n",
                "ab012345678901234567890"
            ),
            (ok + "Transfer-Encoding: Chunked\r\n\r\n00003\r\nabc\r\n0\r\n\r\n", "abc"),
            (ok + "Content-Length: 0\r\n\r\n", ""), ("HTTP/1.1 204 None\r\n\r\n", ""),
            ("HTTP/1.1 304 Same\r\n\r\n", ""),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + ok
                    + "Content-Length: 1\r\n\r\na", "a"
            ),
            ("HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na", "a"), ("http/1.1  200 \r\nContent-Length: 1\r\n\r\na", "a"),
        ])
    func regular(response: String, body: String) {
        let outcome = Self.outcome(response)
        #expect(outcome.body == body && outcome.isWhole && outcome.keepsConnection && outcome.failure == nil)
    }

    @Test(
        "what browsers repair is repaired, and the connection is not used again",
        arguments: [
            // Lengths and chunks.
            ok + "Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            ok + "Content-Length: 4, 5\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            ok + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", ok + "Content-Length: 3, 3\r\n\r\nabc",
            ok + "Content-Length: 3\r\nTransfer-Encoding: identity\r\n\r\nabc",
            ok + "Transfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            // Lines.
            "HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", ok + "Content-Length : 3\r\n\r\nabc",
            ok + "Bad Name: x\r\nContent-Length: 3\r\n\r\nabc", ok + "no field\r\nContent-Length: 3\r\n\r\nabc",
            ok + ": x\r\nContent-Length: 3\r\n\r\nabc", ok + " x\r\nContent-Length: 3\r\n\r\nabc",
            ok + "X: a\r\n\tb\r\nContent-Length: 3\r\n\r\nabc", ok + "X: a\u{1}b\rc\r\nContent-Length: 3\r\n\r\nabc",
            "\r\n\r\n" + ok + "Content-Length: 3\r\n\r\nabc",
            ok + "Transfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0 ;\n\n",
            // More than the length.
            ok + "Content-Length: 3\r\n\r\nabcdef", ok + "Content-Length: 3\r\n\r\nabc" + ok,
        ])
    func repaired(response: String) {
        let outcome = Self.outcome(response)
        #expect(outcome.status == 200 && outcome.body == "abc" && outcome.isWhole && outcome.failure == nil)
        #expect(!outcome.keepsConnection)
    }

    @Test(
        "the end of the connection is the end of a response without a length",
        arguments: [
            ok + "\r\nabc", "HTTP/1.0 200 OK\r\n\r\nabc", ok + "Content-Length:\r\n\r\nabc",
            ok + "Transfer-Encoding: identity\r\n\r\nabc",
            // Only fields without a meaning are missing.
            ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX",
        ])
    func unknownLength(response: String) {
        let outcome = Self.outcome(response, ends: true)
        #expect(outcome.body == "abc" && outcome.isWhole && outcome.failure == nil && !outcome.keepsConnection)
    }

    @Test(
        "a response that is cut off is incomplete",
        arguments: [
            ok, ok + "Content-Length: 4\r\n\r\nabc", "HTTP/1.1 2", ok + "Content-Length: 4\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nab",
            ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0",
        ])
    func incomplete(response: String) {
        let outcome = Self.outcome(response, ends: true)
        #expect(outcome.failure == .incomplete && !outcome.isWhole)
    }

    @Test(
        "what no browser reads is malformed",
        arguments: [
            ok + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", ok + "Content-Length: 3, 4\r\n\r\nabc",
            ok + "Content-Length: x\r\nContent-Length: 3\r\n\r\nabc", ok + "Content-Length: 3, -1\r\n\r\nabc",
            ok + "X: \u{0}\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n", "<html>\r\n\r\n", "HTTP/1.1\r\n\r\n",
            "HTTP/11 200 OK\r\n\r\n",
            "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 +20 OK\r\n\r\n", "HTTP/1.1 099 x\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", ok + "Transfer-Encoding: chunked\r\n\r\n\r\nabc",
            ok + "Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n3,\r\nabc\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n8000000000000003\r\nabc\r\n0\r\n\r\n",
        ])
    func malformed(response: String) {
        #expect(Self.outcome(response).failure == .malformed)
    }

    @Test func `The answer to HEAD has no body, whatever its fields say`() {
        let outcome = Self.outcome(ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", isHEAD: true)
        #expect(outcome.isWhole && outcome.body.isEmpty)
        let length = Self.outcome(ok + "Content-Length: 5\r\n\r\n", isHEAD: true)
        #expect(length.fields == ["content-length: 5"] && length.keepsConnection)
    }

    @Test func `A head states one length, and that its connection ends if it was repaired`() {
        let both = Self.outcome(
            ok + "A: 1\r\nContent-Length: 9\r\nTransfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n")
        #expect(both.fields == ["A: 1", "transfer-encoding: chunked", "connection: close"])
        let list = Self.outcome(ok + "Content-Length: 03, 3\r\nConnection: keep-alive\r\n\r\nabc")
        #expect(list.fields == ["content-length: 3", "connection: close"])
    }

    @Test func `Lines are folded, and control characters become spaces`() {
        let outcome = Self.outcome(ok + "A: 1 \r\n  2\r\nB: a\u{1}b\u{7f}\r\nC :d\r\nContent-Length: 0\r\n\r\n")
        #expect(outcome.fields.prefix(3) == ["A: 1 2", "B: a b ", "C: d"])
    }

    @Test func `A location keeps bytes that are not UTF-8`() {
        let head = Array("HTTP/1.1 302 Found\r\nLocation: /caf".utf8) + [0xe9] + Array("/ü\r\nX: ".utf8) + [0xe9]
        let outcome = Self.outcome(bytes: head + Array("\r\nLocation: /é\r\nContent-Length: 0\r\n\r\n".utf8))
        #expect(outcome.fields.prefix(3) == ["Location: /caf%E9/%C3%BC", "X: \u{fffd}", "Location: /é"])
    }

    @Test(
        "work without bytes of the body is limited",
        arguments: [
            (String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 17), true),
            (String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 16), false),
            (ok + "X: " + String(repeating: "x", count: 90_000), true),
            (ok + String(repeating: "X: y\r\n", count: 20_000), true),
            ("HTTP/1.1 103 Hints\r\n" + String(repeating: "X: y\r\n", count: 20_000), true),
            (ok + "Transfer-Encoding: chunked\r\n\r\n1;" + String(repeating: "x", count: 17_000), true),
            (ok + "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: "1\r\nx\r\n", count: 20_000), false),
            (ok + "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: "1\r\nx\r\n", count: 40_000), true),
            (
                ok + "Transfer-Encoding: chunked\r\n\r\n"
                    + String(repeating: "1;" + String(repeating: "x", count: 10_000) + "\r\nx\r\n", count: 20), true
            ),
            (ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + String(repeating: "X: y\r\n", count: 30_000), true),
            (
                ok + "Transfer-Encoding: chunked\r\n\r\n"
                    + String(repeating: "40\r\n" + String(repeating: "x", count: 64) + "\r\n", count: 20_000), false
            ),
        ])
    func limits(response: String, isRefused: Bool) {
        var parser = ResponseParser()
        var parts: [HTTPClientResponsePart] = []
        let failure = Self.failure { () throws(ResponseParser.Failure) in
            try parser.read(ByteBuffer(string: response), into: &parts)
        }
        #expect((failure == .malformed) == isRefused)
    }

    @Test func `A body that comes byte by byte is ended after 16,384 reads`() {
        var parser = ResponseParser()
        var parts: [HTTPClientResponsePart] = []
        let failure = Self.failure { () throws(ResponseParser.Failure) in
            try parser.read(ByteBuffer(string: ok + "Content-Length: 1000000\r\n\r\n"), into: &parts)
            for _ in 0..<16_000 { try parser.read(ByteBuffer(string: "x"), into: &parts) }
        }
        #expect(failure == nil)
        let second = Self.failure { () throws(ResponseParser.Failure) in
            for _ in 0..<2_000 { try parser.read(ByteBuffer(string: "x"), into: &parts) }
        }
        #expect(second == .malformed)
    }

    @Test func `Chunks of one read are one part`() throws {
        var parser = ResponseParser()
        var parts: [HTTPClientResponsePart] = []
        let chunks = String(repeating: "1\r\nx\r\n", count: 1_000)
        try parser.read(
            ByteBuffer(string: ok + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n"), into: &parts)
        #expect(parts.count == 3)
        #expect(parts[1] == .body(ByteBuffer(string: String(repeating: "x", count: 1_000))))
    }

    @Test func `The end of a connection before a response is no response`() throws {
        var parser = ResponseParser()
        var parts: [HTTPClientResponsePart] = []
        try parser.readEnd(into: &parts)
        #expect(parts.isEmpty)
    }
}

extension ResponseParserTests {
    static func outcome(_ response: String, isHEAD: Bool = false, ends: Bool = false) -> Outcome {
        outcome(bytes: Array(response.utf8), isHEAD: isHEAD, ends: ends)
    }

    /// The outcome for the whole response at once, which must be the same byte by byte, and cut in two at any place.
    private static func outcome(bytes: [UInt8], isHEAD: Bool = false, ends: Bool = false) -> Outcome {
        let whole = outcome(of: [ByteBuffer(bytes: bytes)], isHEAD, ends)
        let divided = outcome(of: bytes.map { ByteBuffer(bytes: [$0]) }, isHEAD, ends)
        #expect(whole == divided)
        for cut in bytes.indices.dropFirst().prefix(500) {
            let halves = [ByteBuffer(bytes: bytes[..<cut]), ByteBuffer(bytes: bytes[cut...])]
            #expect(outcome(of: halves, isHEAD, ends) == whole, "cut at \(cut)")
        }
        return whole
    }

    private static func outcome(of reads: [ByteBuffer], _ isHEAD: Bool, _ ends: Bool) -> Outcome {
        var parser = ResponseParser(isHEAD: isHEAD)
        var parts: [HTTPClientResponsePart] = []
        var outcome = Outcome()
        var isFollowed = false
        outcome.failure = failure { () throws(ResponseParser.Failure) in
            for read in reads {
                if parser.isOver { isFollowed = true } else { try parser.read(read, into: &parts) }
            }
            if ends { try parser.readEnd(into: &parts) }
        }
        for part in parts {
            switch part {
            case .head(let head):
                outcome.status = Int(head.status.code)
                outcome.fields = head.headers.map { "\($0): \($1)" }
            case .body(let bytes): outcome.body += String(buffer: bytes)
            case .end: outcome.isWhole = true
            }
        }
        outcome.keepsConnection = parser.isOver && parser.keepsConnection && !isFollowed
        return outcome
    }

    private static func failure(of body: () throws(ResponseParser.Failure) -> Void) -> ResponseParser.Failure? {
        do throws(ResponseParser.Failure) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}
