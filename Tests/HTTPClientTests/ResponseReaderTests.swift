import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOSSL
import Testing

@testable import DarkroomHTTPClient

/// Connections after responses that were repaired, and bytes that answer nothing.
struct ResponseReaderTests {
    private static let regular = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"

    @Test func `A connection is kept after a regular response`() throws {
        let channel = try connection()
        for _ in 0..<2 {
            try ask(channel)
            try channel.writeInbound(ByteBuffer(string: Self.regular))
            #expect(try parts(channel) == 3)
        }
        #expect(channel.isActive)
    }

    @Test(
        "a connection is closed after a response that was repaired, and before another request",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc", "HTTP/1.1 200 OK\nContent-Length: 1\r\n\r\na",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
        ])
    func closed(response: String) throws {
        let channel = try connection()
        try ask(channel)
        try channel.writeInbound(ByteBuffer(string: response))
        #expect(try parts(channel) == 3)
        #expect(!channel.isActive)
        #expect(throws: ChannelError.self) { try ask(channel) }
    }

    @Test func `Bytes that nobody asked for close the connection and are not read`() throws {
        let channel = try connection()
        try channel.writeInbound(ByteBuffer(string: Self.regular))
        #expect(try parts(channel) == 0)
        #expect(!channel.isActive)
    }

    @Test func `Bytes behind a response are not read as another one`() throws {
        let channel = try connection()
        try ask(channel)
        try channel.writeInbound(ByteBuffer(string: Self.regular))
        try channel.writeInbound(ByteBuffer(string: Self.regular))
        #expect(try parts(channel) == 3)
        #expect(!channel.isActive)
    }

    @Test func `A malformed response fails once and closes the connection`() throws {
        let channel = try connection()
        try ask(channel)
        #expect(throws: ResponseParser.Failure.malformed) { try channel.writeInbound(ByteBuffer(string: "x\r\n")) }
        #expect(!channel.isActive)
    }

    @Test(
        "TLS that ends without a close is an error unless nothing but the end was missing",
        arguments: [("HTTP/1.1 200 OK\r\n\r\nab", false), ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", true)])
    func uncleanShutdown(response: String, isError: Bool) throws {
        let channel = try connection()
        try ask(channel)
        try channel.writeInbound(ByteBuffer(string: response))
        channel.pipeline.fireErrorCaught(NIOSSLError.uncleanShutdown)
        var error: (any Error)?
        do { try channel.throwIfErrorCaught() } catch let thrown { error = thrown }
        #expect((error as? NIOSSLError != nil) == isError)
    }

    private func connection() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: ResponseReader())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        return channel
    }

    private func ask(_ channel: EmbeddedChannel) throws {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        try channel.writeOutbound(HTTPClientRequestPart.head(head))
    }

    /// Takes the parts that were read, and returns their number.
    private func parts(_ channel: EmbeddedChannel) throws -> Int {
        var count = 0
        while try channel.readInbound(as: HTTPClientResponsePart.self) != nil { count += 1 }
        return count
    }
}
