import DarkroomTestOrigin
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import DarkroomOrigin

@Suite(.timeLimit(.minutes(1)))
struct BytesInFlightTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()
    private let bytes = InFlightByteBudget(budgetBytes: 100)

    private enum Fate {
        case open, granted, failed
    }

    /// A wish for bytes, and what has become of it.
    private final class Wish: Sendable {
        private let current = Mutex(Fate.open)
        private let loop: any EventLoop

        init(_ future: EventLoopFuture<Void>) {
            loop = future.eventLoop
            future.whenComplete { result in
                self.current.withLock { if case .success = result { $0 = .granted } else { $0 = .failed } }
            }
        }

        /// After the loop has done what it had to do.
        var fate: Fate {
            get async throws {
                try await loop.submit {}.get()
                return current.withLock(\.self)
            }
        }
    }

    private func require(_ count: Int, _ hold: ByteReservation) -> Wish { Wish(hold.require(count, on: loop)) }

    @Test func `What does not fit waits until room is given back, the oldest first`() async throws {
        var first: ByteReservation? = bytes.open()
        let (second, third) = (bytes.open(), bytes.open())
        _ = first.map { require(80, $0) }
        let large = require(60, second)
        let small = require(10, third)
        #expect(bytes.usedBytes == 80)
        #expect(try await large.fate == .open)
        #expect(try await small.fate == .open)
        first = nil
        #expect(try await large.fate == .granted)
        #expect(try await small.fate == .granted)
        #expect(bytes.usedBytes == 70)
    }

    @Test func `Where only downloads under way hold bytes, the oldest goes on past the bound`() async throws {
        let (first, second) = (bytes.open(), bytes.open())
        _ = require(60, first)
        _ = require(40, second)
        let more = require(60, second)
        #expect(try await more.fate == .open)
        #expect(try await require(90, first).fate == .granted)
        #expect(bytes.usedBytes == 130)
        #expect(bytes.isFull)
        first.settle(bytes: 90)
        // Whole but still in work: that ends by itself.
        #expect(try await more.fate == .open)
    }

    @Test func `A download alone has all that it wants, however little the budget is`() async throws {
        let only = bytes.open()
        #expect(try await require(1000, only).fate == .granted)
    }

    @Test func `What a whole download did not need is free at once, and the rest when nobody has it`() {
        var whole: ByteReservation? = bytes.open()
        _ = whole.map { require(100, $0) }
        whole?.settle(bytes: 30)
        #expect(bytes.usedBytes == 30)
        whole = nil
        #expect(bytes.usedBytes == 0)
    }

    @Test func `A download that ends while it waits is no longer waited for`() async throws {
        let first = bytes.open()
        _ = require(100, first)
        var second: ByteReservation? = bytes.open()
        let wish = second.map { require(50, $0) }
        second = nil
        #expect(try await wish?.fate == .failed)
        #expect(bytes.usedBytes == 100)
    }

    @Test func `While the bytes are as many as may be, no new download begins`() async {
        let gate = DownloadLimiter(downloadsPerHost: 9, maxDownloads: 9, bytes: bytes)
        var hold: ByteReservation? = bytes.open()
        _ = hold.map { require(100, $0) }
        hold?.settle(bytes: 100)
        let download = Task { (try? await gate.withSlot(host: "h", urgency: { .normal }) { () }) != nil }
        while gate.waitingCount == 0 { await Task.yield() }
        hold = nil
        #expect(await download.value)
    }

    @Test func `Many downloads that pass the bound together all come whole, announced or not`() async throws {
        var settings = try GuardedHTTPClient.Settings.loopback()
        settings.maxInFlightBytes = 300_000
        let body = String(repeating: "x", count: 400_000)
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n"
        try await withOrigin(settings) { request in
            let length = request.index.isMultiple(of: 2) ? "Content-Length: 400000\r\n" : ""
            return [.send("\(head)\(length)\r\n"), .send(body), .close]
        } _: { client, origin in
            let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<12 {
                    let url = try origin.url("/\(number)")
                    group.addTask { try await client.fetch(url).body.readableBytes }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sizes == Array(repeating: 400_000, count: 12))
            #expect(client.inFlightBytes == 0)
        }
    }

    @Test func `An original counts as long as somebody has it`() async throws {
        try await withOrigin { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")]
        } _: { client, origin in
            var response: OriginResponse? = try await client.fetch(try origin.url())
            #expect(client.inFlightBytes == 5)
            #expect(response != nil)
            response = nil
            #expect(client.inFlightBytes == 0)
        }
    }
}
