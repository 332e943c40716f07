package import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A loopback server that keeps complete requests and answers them as its script says, like a collector of traces.
package final class TestCollector: Sendable {
    package struct Request: Sendable {
        package let method: String
        package let target: String
        /// Field names in lower case.
        package let fields: [String: String]
        package let body: ByteBuffer
        /// 0 for the first request of all.
        package let index: Int
    }

    package struct Answer: Sendable {
        package var status: Int
        package var fields: [(String, String)]
        package var body: String
        /// The answer is sent once this future has completed; nil = at once.
        package var gate: EventLoopFuture<Void>?
        /// Whether the body is repeated until the client closes the connection.
        package var isEndless: Bool

        package init(
            _ status: Int = 200, fields: [(String, String)] = [], body: String = "{}",
            gate: EventLoopFuture<Void>? = nil, isEndless: Bool = false
        ) {
            self.status = status
            self.fields = fields
            self.body = body
            self.gate = gate
            self.isEndless = isEndless
        }
    }

    private let log = Mutex<[Request]>([])
    private let channel = Mutex<(any Channel)?>(nil)
    private let script: @Sendable (Request) -> Answer
    /// Yields every request once it is complete.
    package let arrivals: AsyncStream<Request>
    private let arrival: AsyncStream<Request>.Continuation
    /// Yields whenever a client has closed the connection of an endless answer.
    package let refusals: AsyncStream<Void>
    private let refusal: AsyncStream<Void>.Continuation

    package init(script: @escaping @Sendable (Request) -> Answer = { _ in Answer() }) {
        self.script = script
        (arrivals, arrival) = AsyncStream.makeStream()
        (refusals, refusal) = AsyncStream.makeStream()
    }

    package var requests: [Request] { log.withLock(\.self) }
    /// `http://127.0.0.1:PORT`
    package var url: String { "http://127.0.0.1:\(channel.withLock { $0?.localAddress?.port ?? 0 })" }

    package func start() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(CollectorHandler(self))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        channel.withLock { $0 = server }
    }

    package func stop() async throws {
        try await channel.withLock { $0 }?.close()
    }

    fileprivate func answer(_ head: HTTPRequestHead, _ body: ByteBuffer) -> Answer {
        let request = log.withLock { log in
            let fields = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" }
            let request = Request(
                method: head.method.rawValue, target: head.uri, fields: fields, body: body, index: log.count)
            log.append(request)
            return request
        }
        arrival.yield(request)
        return script(request)
    }

    fileprivate func noteRefusal() { refusal.yield() }
}

private final class CollectorHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let collector: TestCollector
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()

    init(_ collector: TestCollector) { self.collector = collector }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = ByteBuffer()
        case .body(let part): body.writeImmutableBuffer(part)
        case .end:
            guard let head else { return }
            let answer = collector.answer(head, body)
            let channel = context.channel
            let gate = answer.gate ?? context.eventLoop.makeSucceededVoidFuture()
            gate.hop(to: context.eventLoop).whenComplete { [collector] _ in
                if answer.isEndless {
                    Self.sendEndlessly(answer, on: channel, collector)
                } else {
                    Self.send(answer, on: channel)
                }
            }
        }
    }

    private static func send(_ answer: TestCollector.Answer, on channel: any Channel) {
        let body = ByteBuffer(string: answer.body)
        var headers = HTTPHeaders(answer.fields)
        headers.add(name: "Content-Length", value: "\(body.readableBytes)")
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        channel.write(HTTPServerResponsePart.body(.byteBuffer(body)), promise: nil)
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
    }

    private static func sendEndlessly(
        _ answer: TestCollector.Answer, on channel: any Channel, _ collector: TestCollector
    ) {
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status),
            headers: HTTPHeaders(answer.fields + [("Transfer-Encoding", "chunked")]))
        let body = ByteBuffer(string: answer.body)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        @Sendable func sendPart() {
            channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(body))).whenComplete { result in
                guard case .success = result else { return collector.noteRefusal() }
                sendPart()
            }
        }
        sendPart()
    }
}
