import NIOCore
import NIOHTTP1
import Testing

@testable import DarkroomHTTPClient

extension FuzzTests {
    @Test func `A response means the same however its bytes are divided`() {
        let words = [
            "Content-Length: ", "Transfer-Encoding: chunked", "\r\n", "\n", "\r\n\r\n", "0\r\n", ";", ",",
            "HTTP/1.1 100 x",
            " ", ":", "Location: ", "ffffffffffffffff", "9223372036854775807",
        ]
        fuzzer.run("origin-responses", seeds: Self.originResponses, words: words) { input in
            // Reads count, so that a longer input could not be read byte by byte.
            guard input.count <= 8_000 else { return }
            let whole = Self.reading(of: [input])
            try hold(Self.reading(of: input.map { [$0] }) == whole, "another response byte by byte")
            let middle = input.count / 2
            try hold(
                Self.reading(of: [Array(input[..<middle]), Array(input[middle...])]) == whole, "another in halves")
            try hold(whole.body.count <= input.count, "\(whole.body.count) bytes of \(input.count)")
            let lengths = whole.heads.first.map {
                $0.headers["content-length"].count + $0.headers["transfer-encoding"].count
            }
            try hold(whole.heads.count <= 1 && lengths ?? 0 <= 1, "\(whole.heads)")
        }
    }

    private struct Reading: Equatable {
        var heads: [HTTPResponseHead] = []
        var body: [UInt8] = []
        var ends = 0
        var failure: ResponseParser.Failure?
    }

    private static func reading(of reads: [[UInt8]]) -> Reading {
        var parser = ResponseParser()
        var parts: [HTTPClientResponsePart] = []
        var reading = Reading()
        do throws(ResponseParser.Failure) {
            for read in reads where !parser.isOver { try parser.read(ByteBuffer(bytes: read), into: &parts) }
            try parser.readEnd(into: &parts)
        } catch {
            reading.failure = error
        }
        for part in parts {
            switch part {
            case .head(let head): reading.heads.append(head)
            case .body(let bytes): reading.body += bytes.readableBytesView
            case .end: reading.ends += 1
            }
        }
        return reading
    }

    private static let originResponses = [
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nETag: \"a\"\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: x\r\n\r\n",
        "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.0 200 OK\n\nabc",
        "HTTP/1.1 302 Found\r\nLocation : /\u{e9}\r\n folded\r\nContent-Length: 0, 0\r\n\r\n",
    ]
}
