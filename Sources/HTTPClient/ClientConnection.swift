package import AsyncHTTPClient
package import NIOCore
import NIOHTTP1
import NIOSSL

/// The handlers that every connection of an HTTP client has in addition to AsyncHTTPClient's own.
///
///     socket ─ TLS ─ RequestCheck ─ encoder ─ RequestWriter ─ ResponseReader ─ AsyncHTTPClient
package enum ClientConnection {
    /// Adds the handlers to a new connection, and removes NIO's decoder, which is stricter than any browser.
    @Sendable package static func prepare(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.flatSubmit {
            do {
                let pipeline = channel.pipeline.syncOperations
                let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                let check = RequestCheck()
                try pipeline.addHandler(check, position: .before(encoder))
                try pipeline.addHandler(RequestWriter(check), position: .after(encoder))
                // In front of the decoder, so that it receives no bytes until it is gone.
                try pipeline.addHandler(ResponseReader(), position: .before(decoder))
                return pipeline.removeHandler(decoder)
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
    }
}

extension HTTPClient.Configuration {
    /// A client for requests made with ``ExactRequest``: over HTTP/1.1, without redirects and without spans of its own,
    /// which could contain tokens.
    package static func exact(timeout: Timeout = Timeout()) -> Self {
        var configuration = Self(redirectConfiguration: .disallow, timeout: timeout)
        configuration.httpVersion = .http1Only
        configuration.tracing.tracer = nil
        configuration.http1_1ConnectionDebugInitializer = ClientConnection.prepare
        return configuration
    }
}

/// The bytes of a request differ from the request that was vetted, or it was not vetted.
package struct UnvettedRequest: Error {}

/// Writes the target of ``ExactRequest`` in place of the HTTP client's.
private final class RequestWriter: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let check: RequestCheck

    init(_ check: RequestCheck) { self.check = check }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        let request = ExactRequest(head)
        if let request { head.uri = request.target }
        head.headers.remove(name: ExactRequest.fieldName)
        check.expect(request)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}

/// Compares the bytes that leave for the socket, or for TLS, with the vetted request. Closes the connection before the
/// first byte if they differ.
private final class RequestCheck: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private enum State {
        /// Nothing may be sent.
        case idle
        case expecting(ExactRequest)
        /// A vetted head was sent: the rest is its body.
        case sent
    }

    private var state = State.idle

    /// Permits one head, or none if the request was not vetted.
    func expect(_ request: ExactRequest?) { state = request.map { .expecting($0) } ?? .idle }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch state {
        case .expecting(let request):
            guard case .byteBuffer(let head) = unwrapOutboundIn(data), request.matches(head) else { break }
            state = .sent
            return context.write(data, promise: promise)
        case .sent: return context.write(data, promise: promise)
        case .idle: break
        }
        state = .idle
        promise?.fail(UnvettedRequest())
        context.fireErrorCaught(UnvettedRequest())
        context.close(promise: nil)
    }
}

extension ExactRequest {
    /// Whether the encoded head has this request line and exactly one `Host`, with this value.
    func matches(_ head: ByteBuffer) -> Bool {
        let lines = String(buffer: head).split(separator: "\r\n", omittingEmptySubsequences: false)
        let hosts = lines.dropFirst().filter { $0.prefix(5).lowercased() == "host:" }
        return lines.first.map { $0.utf8.elementsEqual("\(method) \(target) HTTP/1.1".utf8) } == true
            && hosts.count == 1 && hosts[0].dropFirst(5).drop { $0 == " " } == authority
    }
}

/// Reads responses with ``ResponseParser``, in place of NIO's decoder, and closes the connection after a response that
/// had to be repaired.
final class ResponseReader: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The response that is due; nil between requests.
    private var parser: ResponseParser?
    private var isClosing = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // A request that is written while the connection closes fails with it.
        guard !isClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if case .head(let head) = unwrapOutboundIn(data) { parser = ResponseParser(isHEAD: head.method == .HEAD) }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Nothing was requested, so the bytes answer no request.
        guard !isClosing, parser != nil else { return close(context) }
        var parts: [HTTPClientResponsePart] = []
        let result = Result { () throws(ResponseParser.Failure) in
            try parser?.read(unwrapInboundIn(data), into: &parts)
        }
        if let parser, parser.isOver {
            isClosing = !parser.keepsConnection
            self.parser = nil
        }
        pass(on: parts, result, context)
        if isClosing { close(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        var parts: [HTTPClientResponsePart] = []
        let result = Result { () throws(ResponseParser.Failure) in try parser?.readEnd(into: &parts) }
        parser = nil
        pass(on: parts, result, context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A peer that ends TLS without saying so may have been cut off. The decoder shows whether the image is whole.
        if case .uncleanShutdown? = error as? NIOSSLError, parser?.mayEndHere == true { return }
        context.fireErrorCaught(error)
    }

    private func pass(
        on parts: [HTTPClientResponsePart], _ result: Result<Void?, ResponseParser.Failure>,
        _ context: ChannelHandlerContext
    ) {
        for part in parts { context.fireChannelRead(wrapInboundOut(part)) }
        guard case .failure(let failure) = result else { return }
        parser = nil
        isClosing = true
        context.fireErrorCaught(failure)
    }

    private func close(_ context: ChannelHandlerContext) {
        isClosing = true
        context.close(promise: nil)
    }
}
