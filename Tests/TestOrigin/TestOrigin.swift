package import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A loopback server that reads requests and plays back raw bytes, so that it can lie, stall and hang up at will.
/// Bodies of requests need a Content-Length.
package final class TestOrigin: Sendable {
    /// What the origin does, in order, once a request has come in.
    package enum Step: Sendable {
        case send(String)
        case sendBytes(ByteBuffer)
        /// The same bytes again and again until the client hangs up.
        case sendForever(String)
        /// One byte now and one every few milliseconds until the client hangs up.
        case drip
        case wait(EventLoopFuture<Void>)
        case close
        /// A TCP reset instead of an orderly end.
        case reset
        /// The end of the TCP connection without the end of TLS.
        case cut
        /// Says nothing more and keeps the connection.
        case stall
    }

    package struct Request: Sendable {
        package let method: String
        package let target: String
        /// Field names in lower case.
        package let fields: [String: String]
        package let body: ByteBuffer
        /// 0 for the first connection that was accepted.
        package let connection: Int
        /// 0 for the first request of all.
        package let index: Int
    }

    private struct Log {
        package var requests: [Request] = []
        var connectionCount = 0
    }

    private let log = Mutex(Log())
    private let channel = Mutex<(any Channel)?>(nil)
    private let script: @Sendable (Request) -> [Step]
    private let speaksTLS: Bool
    /// Yields once for every connection that ends.
    package let hangUps: AsyncStream<Void>
    /// Yields every request as it comes in.
    package let arrivals: AsyncStream<Request>
    fileprivate let hangUp: AsyncStream<Void>.Continuation
    fileprivate let arrival: AsyncStream<Request>.Continuation

    /// - Parameter tls: whether to speak TLS, with a certificate for `trusted.test` that is signed by itself.
    package init(tls: Bool = false, script: @escaping @Sendable (Request) -> [Step]) {
        self.script = script
        speaksTLS = tls
        (hangUps, hangUp) = AsyncStream.makeStream()
        (arrivals, arrival) = AsyncStream.makeStream()
    }

    package var requests: [Request] { log.withLock { $0.requests } }
    package var connectionCount: Int { log.withLock { $0.connectionCount } }
    package var port: Int { channel.withLock { $0?.localAddress?.port ?? 0 } }

    package func start() async throws {
        let context = speaksTLS ? try TestCertificate.serverContext() : nil
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    try channel.pipeline.syncOperations.addHandler(OriginHandler(origin: self))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        channel.withLock { $0 = server }
    }

    package func stop() async throws {
        try await channel.withLock { $0 }?.close()
    }

    fileprivate func acceptConnection() -> Int {
        log.withLock { log in
            defer { log.connectionCount += 1 }
            return log.connectionCount
        }
    }

    fileprivate func steps(for head: String, body: ByteBuffer, connection: Int) -> [Step] {
        let lines = head.split(separator: "\r\n")
        let fields = lines.dropFirst().map { $0.split(separator: ":", maxSplits: 1) }
        let request = log.withLock { log in
            let request = Request(
                method: lines.first?.split(separator: " ").first.map(String.init) ?? "",
                target: lines.first?.split(separator: " ").dropFirst().first.map(String.init) ?? "",
                fields: Dictionary(
                    fields.map { ($0[0].lowercased(), $0[1].drop { $0 == " " }.description) },
                    uniquingKeysWith: { "\($0), \($1)" }),
                body: body, connection: connection, index: log.requests.count)
            log.requests.append(request)
            return request
        }
        arrival.yield(request)
        return script(request)
    }
}

private final class OriginHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let origin: TestOrigin
    private var received = ByteBuffer()
    private var connection = 0

    init(origin: TestOrigin) { self.origin = origin }

    func channelActive(context: ChannelHandlerContext) {
        connection = origin.acceptConnection()
    }

    func channelInactive(context: ChannelHandlerContext) {
        origin.hangUp.yield()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        while let (head, body) = nextRequest() {
            play(origin.steps(for: head, body: body, connection: connection)[...], on: context.channel)
        }
    }

    private func nextRequest() -> (head: String, body: ByteBuffer)? {
        guard let end = received.readableBytesView.firstRange(of: "\r\n\r\n".utf8) else { return nil }
        let head = String(decoding: received.readableBytesView[..<end.lowerBound], as: UTF8.self)
        let length =
            head.split(separator: "\r\n").lazy
            .map { $0.lowercased().split(separator: ":") }
            .first { $0.first == "content-length" }?.last
            .flatMap { Int($0.drop { $0 == " " }) } ?? 0
        let bodyStart = end.upperBound - received.readerIndex
        guard let body = received.getSlice(at: end.upperBound, length: length) else { return nil }
        received.moveReaderIndex(forwardBy: bodyStart + length)
        return (head, body)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

private func play(_ steps: ArraySlice<TestOrigin.Step>, on channel: any Channel) {
    guard let step = steps.first, channel.isActive else { return }
    let rest = steps.dropFirst()
    switch step {
    case .send(let text):
        channel.writeAndFlush(ByteBuffer(string: text)).whenSuccess { play(rest, on: channel) }
    case .sendBytes(let bytes):
        channel.writeAndFlush(bytes).whenSuccess { play(rest, on: channel) }
    case .sendForever(let text):
        // Writes often succeed at once: the next one waits for its turn, so that the stack does not grow.
        channel.writeAndFlush(ByteBuffer(string: text)).whenSuccess {
            channel.eventLoop.execute { play(steps, on: channel) }
        }
    case .drip:
        channel.writeAndFlush(ByteBuffer(string: "x")).whenSuccess {
            channel.eventLoop.scheduleTask(in: .milliseconds(5)) { play(steps, on: channel) }
        }
    case .wait(let future):
        future.hop(to: channel.eventLoop).whenComplete { _ in play(rest, on: channel) }
    case .close:
        channel.close(promise: nil)
    case .reset:
        let sockets = channel as? any SocketOptionProvider
        sockets?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in channel.close(promise: nil) }
    case .cut:
        let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        tls?.close(promise: nil)
    case .stall:
        break
    }
}

extension TestOrigin.Step {
    /// A whole response with a right Content-Length.
    package static func respond(_ status: String = "200 OK", fields: [String] = [], body: String = "picture") -> Self {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields
        return .send(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    package static func redirect(_ status: String = "302 Found", to location: String) -> Self {
        respond(status, fields: ["Location: \(location)"], body: "")
    }

    /// The word that the client's copy is still right, without a body.
    package static func notModified(fields: [String] = []) -> Self {
        .send((["HTTP/1.1 304 Not Modified"] + fields).joined(separator: "\r\n") + "\r\n\r\n")
    }

    /// As above with bytes of any kind.
    package static func respond(fields: [String] = [], bytes: ByteBuffer) -> Self {
        let head = ["HTTP/1.1 200 OK", "Content-Length: \(bytes.readableBytes)"] + fields
        var whole = ByteBuffer(string: head.joined(separator: "\r\n") + "\r\n\r\n")
        whole.writeImmutableBuffer(bytes)
        return .sendBytes(whole)
    }
}
