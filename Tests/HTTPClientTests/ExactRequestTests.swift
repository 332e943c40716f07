import AsyncHTTPClient
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import DarkroomHTTPClient

struct ExactRequestTests {
    @Test(
        "a URL is split into origin and target without changing a byte",
        arguments: [
            ("http://a/%FF?'|[", "http://a", "/%FF?'|[", "a"), ("https://a:8443", "https://a:8443", "/", "a:8443"),
            ("http://a?x", "http://a", "/?x", "a"), ("http://[::1]:80/x#y", "http://[::1]:80", "/x", "[::1]:80"),
            ("http+unix://%2Frun%2Fs/health", "http+unix://%2Frun%2Fs", "/health", "localhost"),
            ("http://a/https://b/", "http://a", "/https://b/", "a"),
        ])
    func parts(url: String, origin: String, target: String, authority: String) throws {
        let request = try #require(ExactRequest(.GET, url))
        #expect((request.origin, request.target, request.authority) == (origin, target, authority))
    }

    @Test(arguments: ["", "a", "/a", "http:///x", "http://a/ b", "http://a/\r\nX: y", "http://a/ü", "http://a/\u{0}"])
    func `A text that would not be one request line is no request`(url: String) {
        #expect(ExactRequest(.GET, url) == nil)
    }

    @Test func `The HTTP client is given the origin alone, and the rest in fields`() {
        let request = HTTPClientRequest(.POST, exactly: "http://h:81/%FF?x")
        #expect(request.url == "http://h:81")
        #expect(request.method == .POST)
        #expect(request.headers["host"] == ["h:81"])
        #expect(request.headers[ExactRequest.fieldName] == ["POST /%FF?x h:81"])
        #expect(HTTPClientRequest(exactly: "/%FF").url.isEmpty)
    }

    @Test func `The vetted target and host are written to the socket`() throws {
        let (channel, head) = try connection(for: "http://h:81/%FF?'|[")
        channel.writeAndFlush(HTTPClientRequestPart.head(head), promise: nil)
        let bytes = try #require(try channel.readOutbound(as: ByteBuffer.self))
        #expect(String(buffer: bytes) == "GET /%FF?'|[ HTTP/1.1\r\nhost: h:81\r\n\r\n")
    }

    @Test func `A request that was not vetted is not sent`() throws {
        let (channel, _) = try connection(for: "http://h/")
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["host": "h"])
        #expect(throws: UnvettedRequest.self) { try channel.writeOutbound(HTTPClientRequestPart.head(head)) }
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        #expect(!channel.isActive)
    }

    @Test func `A second request needs its own vetting`() throws {
        let (channel, head) = try connection(for: "http://h/")
        try channel.writeOutbound(HTTPClientRequestPart.head(head))
        let second = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/b", headers: ["host": "h"])
        #expect(throws: UnvettedRequest.self) { try channel.writeOutbound(HTTPClientRequestPart.head(second)) }
        #expect(try channel.readOutbound(as: ByteBuffer.self) != nil)
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
    }

    /// Changes to a head behind the place where its target was written.
    enum Tampering: CaseIterable { case method, target, host, secondHost }

    @Test(arguments: Tampering.allCases)
    func `A request whose bytes differ from the vetted ones fails at the socket`(tampering: Tampering) throws {
        let (channel, head) = try connection(for: "http://h/a")
        let encoder = try channel.pipeline.syncOperations.handler(type: HTTPRequestEncoder.self)
        try channel.pipeline.syncOperations.addHandler(Tamperer(tampering), position: .after(encoder))
        #expect(throws: UnvettedRequest.self) { try channel.writeOutbound(HTTPClientRequestPart.head(head)) }
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        #expect(!channel.isActive)
    }

    private func connection(for url: String) throws -> (EmbeddedChannel, HTTPRequestHead) {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        try channel.pipeline.syncOperations.addHandlers([
            HTTPRequestEncoder(), ByteToMessageHandler(HTTPResponseDecoder(informationalResponseStrategy: .forward)),
        ])
        let prepared = ClientConnection.prepare(channel)
        channel.embeddedEventLoop.run()
        try prepared.wait()
        let fields = try #require(ExactRequest(.GET, url)).fields
        return (channel, HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: fields))
    }
}

private final class Tamperer: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let tampering: ExactRequestTests.Tampering

    init(_ tampering: ExactRequestTests.Tampering) { self.tampering = tampering }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        switch tampering {
        case .method: head.method = .HEAD
        case .target: head.uri += "b"
        case .host: head.headers.replaceOrAdd(name: "Host", value: "i")
        case .secondHost: head.headers.add(name: "Host", value: "h")
        }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
