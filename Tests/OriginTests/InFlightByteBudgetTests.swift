import DarkroomTestOrigin
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import DarkroomOrigin

@Suite(.timeLimit(.minutes(5)))
struct InFlightByteBudgetTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()
    private let budget = InFlightByteBudget(budgetBytes: 100)

    private enum State {
        case pending, granted, failed
    }

    /// A request for bytes and its state.
    private final class Request: Sendable {
        private let current = Mutex(State.pending)
        private let loop: any EventLoop

        init(_ future: EventLoopFuture<Void>) {
            loop = future.eventLoop
            future.whenComplete { result in
                self.current.withLock { if case .success = result { $0 = .granted } else { $0 = .failed } }
            }
        }

        /// The state after the event loop has run its pending tasks.
        var state: State {
            get async throws {
                try await loop.submit {}.get()
                return current.withLock(\.self)
            }
        }
    }

    private func reserve(_ count: Int, _ reservation: ByteReservation) -> Request {
        Request(reservation.reserve(count, on: loop))
    }

    @Test func `Reservations that do not fit wait until bytes are released, the oldest first`() async throws {
        var first: ByteReservation? = budget.makeReservation()
        let (second, third) = (budget.makeReservation(), budget.makeReservation())
        _ = first.map { reserve(80, $0) }
        let large = reserve(60, second)
        let small = reserve(10, third)
        #expect(budget.usedBytes == 80)
        #expect(try await large.state == .pending)
        #expect(try await small.state == .pending)
        first = nil
        #expect(try await large.state == .granted)
        #expect(try await small.state == .granted)
        #expect(budget.usedBytes == 70)
    }

    @Test func `If only running downloads hold bytes, the oldest one exceeds the budget`() async throws {
        let (first, second) = (budget.makeReservation(for: "a"), budget.makeReservation(for: "b"))
        _ = reserve(60, first)
        _ = reserve(40, second)
        let more = reserve(60, second)
        #expect(try await more.state == .pending)
        #expect(try await reserve(90, first).state == .granted)
        #expect(budget.usedBytes == 130)
        #expect(budget.isFull)
        first.finish(bytes: 90)
        // Finished but still in use: its bytes are released without more reservations.
        #expect(try await more.state == .pending)
    }

    @Test func `One client's downloads leave a quarter to others`() async throws {
        let large = (0..<3).map { _ in budget.makeReservation(for: "greedy") }
        #expect(try await reserve(40, large[0]).state == .granted)
        #expect(try await reserve(30, large[1]).state == .granted)
        let third = reserve(20, large[2])
        #expect(try await third.state == .pending)
        // What waits for its own client's share keeps nobody waiting.
        let other = budget.makeReservation(for: "polite")
        #expect(try await reserve(25, other).state == .granted)
        large[1].finish(bytes: 5)
        #expect(try await third.state == .granted)
        #expect(budget.usedBytes == 90)
    }

    @Test func `The oldest of a client's running downloads goes on beyond the share, or none of them would end`()
        async throws
    {
        let (first, second) = (budget.makeReservation(for: "a"), budget.makeReservation(for: "a"))
        _ = reserve(40, first)
        _ = reserve(35, second)
        #expect(try await reserve(45, second).state == .pending)
        #expect(try await reserve(60, first).state == .granted)
    }

    @Test func `Bytes that wait for another download count, and do not keep it waiting`() async throws {
        let (part, source, other) = (budget.makeReservation(), budget.makeReservation(), budget.makeReservation())
        _ = reserve(80, part)
        part.finish(bytes: 80)
        let large = reserve(60, source)
        #expect(try await large.state == .pending)
        let parking = part.park()
        #expect(try await large.state == .granted)
        #expect(budget.usedBytes == 140)
        let next = reserve(10, other)
        #expect(try await next.state == .pending)
        parking.end()
    }

    @Test func `Once bytes that wait for another download exceed the budget, the latest download proceeds`()
        async throws
    {
        let (first, older) = (budget.makeReservation(), budget.makeReservation())
        _ = reserve(60, first)
        let waiting = reserve(60, older)
        #expect(try await waiting.state == .pending)
        let source = budget.makeReservation()
        first.finish(bytes: 110)
        let part = budget.makeReservation()
        let needed = reserve(40, part)
        let parking = first.park()
        #expect(try await needed.state == .granted)
        #expect(try await waiting.state == .pending)
        let further = reserve(100, source)
        #expect(try await further.state == .pending)
        #expect(budget.usedBytes == 150)
        parking.end()
    }

    @Test func `Bytes that no work has waiting any more keep downloads waiting`() async throws {
        let (part, source, other) = (budget.makeReservation(), budget.makeReservation(), budget.makeReservation())
        _ = reserve(80, part)
        part.finish(bytes: 80)
        var parkings = [part.park(), part.park()]
        for _ in 1...2 { parkings[0].end() }
        let large = reserve(60, source)
        #expect(try await large.state == .granted)
        source.finish(bytes: 0)
        parkings = []
        let next = reserve(30, other)
        #expect(try await next.state == .pending)
    }

    @Test func `A single download is granted any number of bytes`() async throws {
        let only = budget.makeReservation()
        #expect(try await reserve(1000, only).state == .granted)
    }

    @Test func `A finished download releases unused bytes at once and the rest with its last reference`() {
        var whole: ByteReservation? = budget.makeReservation()
        _ = whole.map { reserve(100, $0) }
        whole?.finish(bytes: 30)
        #expect(budget.usedBytes == 30)
        whole = nil
        #expect(budget.usedBytes == 0)
    }

    @Test func `A download that ends while it waits is removed`() async throws {
        let first = budget.makeReservation()
        _ = reserve(100, first)
        var second: ByteReservation? = budget.makeReservation()
        let request = second.map { reserve(50, $0) }
        second = nil
        #expect(try await request?.state == .failed)
        #expect(budget.usedBytes == 100)
    }

    @Test func `No download starts while the byte budget is exhausted`() async {
        let (queued, didQueue) = AsyncStream<Void>.makeStream()
        let limiter = DownloadLimiter(downloadsPerHost: 9, maxDownloads: 9, budget: budget) { didQueue.yield() }
        var reservation: ByteReservation? = budget.makeReservation()
        _ = reservation.map { reserve(100, $0) }
        reservation?.finish(bytes: 100)
        let download = Task { (try? await limiter.withSlot(host: "h", urgency: { .normal }) { () }) != nil }
        for await _ in queued { break }
        #expect(limiter.waitingCount == 1)
        reservation = nil
        #expect(await download.value)
    }

    @Test func `Concurrent downloads that exceed the budget together all complete, with and without Content-Length`()
        async throws
    {
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
            // The transfer's own task may hold the last response a moment longer than its caller. The time limit of
            // the suite ends this loop if the bytes are never released.
            while client.inFlightBytes > 0 { await Task.yield() }
        }
    }

    @Test func `A download that is canceled while it waits for bytes lets the next one go on`() async throws {
        var settings = try GuardedHTTPClient.Settings.loopback()
        settings.maxInFlightBytes = 300_000
        let body = { @Sendable (count: Int) in String(repeating: "x", count: count) }
        try await withOrigin(settings) { request in
            let count = [0: 200_000, 1: 250_000][request.index] ?? 50_000
            return [.send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"), .send(body(count))]
        } _: { client, origin in
            func request(_ path: String) throws -> OriginRequest {
                var request = OriginRequest(url: try origin.url(path))
                request.clients = { [path] }
                return request
            }
            let held = try await client.fetch(try request("/held"))
            let second = try request("/waits")
            let waiting = Task { try await client.fetch(second) }
            for await request in origin.arrivals where request.index == 1 { break }
            async let next = client.fetch(try request("/next"))
            for await request in origin.arrivals where request.index == 2 { break }
            waiting.cancel()
            await #expect(throws: OriginError.cancelled) { try await waiting.value }
            #expect(try await next.body.readableBytes == 50_000)
            #expect(held.body.readableBytes == 200_000)
        }
    }

    @Test func `The largest upload fits into a buffer, whatever the settings say`() {
        #expect(UploadBudget(budgetBytes: .max, maxSourceBytes: .max).maxSourceBytes < Int(UInt32.max))
    }

    @Test func `An original counts as long as its response is referenced`() async throws {
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
