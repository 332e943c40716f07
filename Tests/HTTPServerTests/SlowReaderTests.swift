import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import DarkroomHTTPServer

/// Clients that read their responses slowly, on a clock of the test.
@Suite struct SlowReaderTests {
    /// The socket of a slow client: holds written bytes until the test takes them.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = IOData

        /// The data keeps its memory, which identifies it.
        private var held: [(data: IOData, bytes: Int, promise: EventLoopPromise<Void>?)] = []
        private(set) var pendingBytes = 0
        var takesAll = false

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            let data = unwrapOutboundIn(data)
            held.append((data, data.readableBytes, promise))
            pendingBytes += data.readableBytes
        }

        func flush(context: ChannelHandlerContext) {
            if takesAll { take(pendingBytes) }
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            let unsent = held
            (held, pendingBytes) = ([], 0)
            for write in unsent { write.promise?.fail(ChannelError.ioOnClosedChannel) }
            context.close(mode: mode, promise: promise)
        }

        /// The client reads.
        func take(_ bytes: Int) {
            pendingBytes -= bytes
            var rest = bytes
            while let first = held.first, first.bytes <= rest {
                rest -= first.bytes
                held.removeFirst()
                first.promise?.succeed()
            }
            if rest > 0 { held[0].bytes -= rest }
        }
    }

    private final class Reports: Sendable {
        private let reasons = Mutex<[SlowReaders.Reason]>([])

        var all: [SlowReaders.Reason] { reasons.withLock(\.self) }
        func add(_ reason: SlowReaders.Reason) { reasons.withLock { $0.append(reason) } }
    }

    private let channel = EmbeddedChannel()
    private let socket = Socket()
    private let reports = Reports()
    private let unsent = UnsentBytes()

    private func withConnection(_ use: (ClientWatchHandler) throws -> Void) throws {
        let slowReaders = SlowReaders(unsent: unsent, client: "client") { [reports] reason, _ in reports.add(reason) }
        let watch = ClientWatchHandler(
            channel.eventLoop.makePromise(), limits: ConnectionLimits(), state: ServerState(), slowReaders: slowReaders
        ) { [socket] _ in socket.pendingBytes }
        try channel.pipeline.syncOperations.addHandlers([socket, watch])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        // As if the connection broke: closing it from this side waits for the client to take what was written.
        let connection = try channel.pipeline.syncOperations.context(handler: watch)
        defer {
            connection.close(promise: nil)
            channel.embeddedEventLoop.run()
        }
        try use(watch)
    }

    private func send(_ bytes: Int, _ watch: ClientWatchHandler) {
        watch.write(ByteBuffer(repeating: 7, count: bytes))
        watch.flush()
    }

    /// Lets seconds pass, in each of which the client takes so many bytes, until the connection closes.
    private func read(_ bytesPerSecond: Int, seconds: Int) -> Int {
        for second in 1...seconds {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            guard channel.isActive else { return second }
            socket.take(min(bytesPerSecond, socket.pendingBytes))
        }
        return seconds
    }

    @Test func `A client that reads 4 KiB a second is disconnected, and one that reads 16 KiB is not`() throws {
        try withConnection { watch in
            send(15 << 20, watch)
            #expect(read(16 << 10, seconds: 300) == 300)
            #expect(channel.isActive)
            #expect(reports.all == [])
            #expect((50...70).contains(read(4 << 10, seconds: 300)))
            #expect(reports.all == [.rate])
        }
        #expect(unsent.bytes == 0)
    }

    @Test func `A client that reads nothing is disconnected after the write timeout`() throws {
        try withConnection { watch in
            send(1 << 20, watch)
            #expect(read(0, seconds: 300) == 30)
        }
        #expect(reports.all == [.rate])
    }

    @Test func `A slow client is disconnected although its response is written in pieces that it empties`() throws {
        try withConnection { watch in
            var pieces = 0
            while channel.isActive, pieces < 100 {
                send(64 << 10, watch)
                _ = read(4 << 10, seconds: 16)
                pieces += 1
            }
            #expect((3...5).contains(pieces))
        }
        #expect(reports.all == [.rate])
    }

    @Test func `Small responses that a client reads now and then are no slow reading`() throws {
        try withConnection { watch in
            for _ in 0..<100 {
                send(20 << 10, watch)
                #expect(read(10 << 10, seconds: 5) == 5)
            }
        }
        #expect(reports.all == [])
        #expect(unsent.bytes == 0)
    }

    @Test func `Bytes that wait count until the client has them, and bytes that do not wait never count`() throws {
        try withConnection { watch in
            socket.takesAll = true
            send(1 << 20, watch)
            #expect(unsent.bytes == 0)
            socket.takesAll = false
            send(1 << 20, watch)
            send(1 << 20, watch)
            #expect(unsent.bytes == 2 << 20)
            socket.take(1 << 20)
            #expect(unsent.bytes == 1 << 20)
            socket.take(1 << 20)
            #expect(unsent.bytes == 0)
            #expect(channel.isActive)
            send(1 << 20, watch)
            #expect(unsent.bytes == 1 << 20)
        }
        // The connection is closed.
        #expect(unsent.bytes == 0)
        #expect(reports.all == [])
    }
}

/// Slow clients over a socket, with both ways of a response.
@Suite(.timeLimit(.minutes(5))) struct UnsentBudgetTests {
    @Test(arguments: [false, true])
    func `When the budget is exceeded, the slowest client is disconnected`(isFast: Bool) async throws {
        let bodyBytes = 32 << 20
        let state = ServerState(unsent: UnsentBytes(budgetBytes: 3 * bodyBytes))
        let responder = isFast ? LargeResponder(bodyBytes: bodyBytes) : nil
        try await withServer(state: state, immediate: responder) { _ in
            .item(String(repeating: "x", count: bodyBytes))
        } use: { address in
            func slowClient() async throws -> WireClient {
                let client = try await WireClient.connected(to: address, isReading: false)
                try await client.send("GET /item HTTP/1.1\r\nHost: x\r\n\r\n")
                return client
            }
            let first = try await slowClient()
            while state.unsent.bytes < bodyBytes { await Task.yield() }
            // One client may have half of the budget.
            let second = try await slowClient()
            #expect(await second.received(atLeast: bodyBytes) >= bodyBytes)
            #expect(await first.received(atLeast: bodyBytes) < bodyBytes)
            #expect(state.unsent.bytes <= 3 * bodyBytes / 2)
        }
        while state.unsent.bytes > 0 { await Task.yield() }
    }
}

/// Answers all requests with a body of its own.
private struct LargeResponder: ImmediateResponder {
    let bodyBytes: Int

    func answer(to head: RequestHead) -> Answer? { .now(Reply(String(repeating: "x", count: bodyBytes))) }
}
