import Synchronization
import Testing

@testable import DarkroomOrigin

@Suite(.timeLimit(.minutes(5)))
struct DownloadLimiterTests {
    /// Downloads that report their start and run until they are finished by name.
    private final class Downloads: Sendable {
        let limiter: DownloadLimiter
        let started: AsyncStream<String>
        private let start: AsyncStream<String>.Continuation
        private let queued: AsyncStream<Void>
        private let ends = Mutex<[String: CheckedContinuation<Void, Never>]>([:])
        /// The clients that joined each download.
        private let joined = Mutex<[String: [String]]>([:])

        init(downloadsPerHost: Int, maxDownloads: Int) {
            (started, start) = AsyncStream.makeStream()
            let (queued, didQueue) = AsyncStream<Void>.makeStream()
            self.queued = queued
            limiter = DownloadLimiter(downloadsPerHost: downloadsPerHost, maxDownloads: maxDownloads) {
                didQueue.yield()
            }
        }

        func run(
            _ name: String, host: String = "h", client: String = "",
            _ urgency: @escaping @autoclosure @Sendable () -> OriginRequest.Priority = .normal
        ) -> Task<Bool, Never> {
            Task {
                do throws(OriginError) {
                    let clients = { @Sendable [self] in [client] + joined.withLock { $0[name] ?? [] } }
                    try await limiter.withSlot(host: host, clients: clients, urgency: urgency) {
                        await withCheckedContinuation { end in
                            ends.withLock { $0[name] = end }
                            start.yield(name)
                        }
                    }
                    return true
                } catch {
                    return false
                }
            }
        }

        /// Lets a client wait for a download of another client.
        func join(_ name: String, client: String) {
            joined.withLock { $0[name, default: []].append(client) }
            limiter.startWaiting()
        }

        func finish(_ name: String) { ends.withLock { $0.removeValue(forKey: name) }?.resume() }

        /// Finishes the running download and then each one that starts, and expects this order of starts.
        func expectStarts(
            _ names: [String], after running: String, _ starts: inout AsyncStream<String>.Iterator
        ) async {
            var previous = running
            for name in names {
                finish(previous)
                previous = await starts.next() ?? ""
                #expect(previous == name)
            }
            finish(previous)
        }

        /// Starts a download and returns once it is queued.
        func enqueue(
            _ name: String, host: String = "h", client: String = "",
            _ urgency: @escaping @autoclosure @Sendable () -> OriginRequest.Priority = .normal
        ) async -> Task<Bool, Never> {
            let before = limiter.waitingCount
            let task = run(name, host: host, client: client, urgency())
            for await _ in queued where limiter.waitingCount > before { break }
            return task
        }
    }

    @Test func `The queue of a host is ordered by priority, then by arrival`() async {
        let downloads = Downloads(downloadsPerHost: 1, maxDownloads: 9)
        var starts = downloads.started.makeAsyncIterator()
        _ = downloads.run("first")
        #expect(await starts.next() == "first")
        for (name, priority) in Self.arrivals { _ = await downloads.enqueue(name, priority) }
        await downloads.expectStarts(["high", "a", "b", "c", "low", "background"], after: "first", &starts)
    }

    @Test func `The order holds across hosts`() async {
        let downloads = Downloads(downloadsPerHost: 1, maxDownloads: 1)
        var starts = downloads.started.makeAsyncIterator()
        _ = downloads.run("first")
        #expect(await starts.next() == "first")
        for name in ["a", "b", "c"] { _ = await downloads.enqueue(name, host: name) }
        await downloads.expectStarts(["a", "b", "c"], after: "first", &starts)
    }

    @Test func `Among equals the client with the fewest downloads goes first`() async {
        let downloads = Downloads(downloadsPerHost: 9, maxDownloads: 2)
        var starts = downloads.started.makeAsyncIterator()
        for name in ["greedy 1", "greedy 2"] {
            _ = downloads.run(name, host: name, client: "greedy")
            #expect(await starts.next() == name)
        }
        for number in 3...5 { _ = await downloads.enqueue("greedy \(number)", client: "greedy") }
        _ = await downloads.enqueue("polite", client: "polite")
        await downloads.expectStarts(["polite", "greedy 3", "greedy 4", "greedy 5"], after: "greedy 1", &starts)
        downloads.finish("greedy 2")
    }

    @Test func `Downloads of one client that hang at a host leave its last slot to others`() async {
        let downloads = Downloads(downloadsPerHost: 3, maxDownloads: 9)
        var starts = downloads.started.makeAsyncIterator()
        for name in ["hanging 1", "hanging 2"] {
            _ = downloads.run(name, client: "greedy")
            #expect(await starts.next() == name)
        }
        let third = await downloads.enqueue("hanging 3", client: "greedy")
        _ = downloads.run("polite", client: "polite")
        #expect(await starts.next() == "polite")
        let second = await downloads.enqueue("polite 2", client: "polite")
        for name in ["hanging 1", "polite"] { downloads.finish(name) }
        #expect(await starts.next() == "polite 2")
        downloads.finish("hanging 2")
        #expect(await starts.next() == "hanging 3")
        for name in ["hanging 3", "polite 2"] { downloads.finish(name) }
        #expect(await third.value)
        #expect(await second.value)
    }

    @Test func `A waiting download starts as soon as a client joins that has no download at the host`() async {
        let downloads = Downloads(downloadsPerHost: 2, maxDownloads: 9)
        var starts = downloads.started.makeAsyncIterator()
        _ = downloads.run("hanging", client: "greedy")
        #expect(await starts.next() == "hanging")
        let shared = await downloads.enqueue("shared", client: "greedy")
        downloads.limiter.startWaiting()
        #expect(downloads.limiter.waitingCount == 1)
        downloads.join("shared", client: "polite")
        #expect(await starts.next() == "shared")
        // The slot counts for the client that joined, so another download of that client waits.
        let second = await downloads.enqueue("second", client: "polite")
        for name in ["hanging", "shared"] { downloads.finish(name) }
        #expect(await starts.next() == "second")
        downloads.finish("second")
        #expect(await shared.value)
        #expect(await second.value)
    }

    @Test func `A full line takes a download by any of its clients`() async {
        let downloads = Downloads(downloadsPerHost: 1, maxDownloads: 1)
        var starts = downloads.started.makeAsyncIterator()
        _ = downloads.run("first", client: "greedy")
        #expect(await starts.next() == "first")
        var greedy: [Task<Bool, Never>] = []
        for number in 1...DownloadLimiter.waitersPerSlot {
            greedy.append(await downloads.enqueue("greedy \(number)", client: "greedy"))
        }
        // The newest download of the greedy client is shared now, so the one before it loses its place.
        downloads.join("greedy \(greedy.count)", client: "friend")
        let polite = downloads.run("polite", client: "polite")
        #expect(await greedy[greedy.count - 2].value == false)
        for download in greedy + [polite] { download.cancel() }
        // Until it has left the line, a canceled download may still start.
        for download in greedy + [polite] { #expect(await !download.value) }
        downloads.finish("first")
    }

    @Test func `Downloads of one client leave an eighth of all slots to others`() async {
        let downloads = Downloads(downloadsPerHost: 1, maxDownloads: 8)
        var starts = downloads.started.makeAsyncIterator()
        for number in 1...7 {
            _ = downloads.run("\(number)", host: "\(number)", client: "greedy")
            #expect(await starts.next() == "\(number)")
        }
        let eighth = await downloads.enqueue("8", host: "8", client: "greedy")
        _ = downloads.run("polite", host: "p", client: "polite")
        #expect(await starts.next() == "polite")
        for name in (1...7).map(String.init) + ["polite"] { downloads.finish(name) }
        #expect(await starts.next() == "8")
        downloads.finish("8")
        #expect(await eighth.value)
    }

    @Test func `A priority that rises while waiting counts when a slot comes free`() async {
        let downloads = Downloads(downloadsPerHost: 1, maxDownloads: 9)
        let rising = Mutex(OriginRequest.Priority.background)
        var starts = downloads.started.makeAsyncIterator()
        _ = downloads.run("first")
        #expect(await starts.next() == "first")
        _ = await downloads.enqueue("rising", rising.withLock { $0 })
        _ = await downloads.enqueue("a")
        _ = await downloads.enqueue("b")
        downloads.finish("first")
        let second = await starts.next() ?? ""
        #expect(second == "a")
        rising.withLock { $0 = .high }
        await downloads.expectStarts(["rising", "b"], after: second, &starts)
    }

    private static let arrivals: [(String, OriginRequest.Priority)] = [
        ("background", .background), ("low", .low), ("a", .normal), ("b", .normal), ("high", .high), ("c", .normal),
    ]

    @Test func `A host at its limit does not delay another one`() async {
        let downloads = Downloads(downloadsPerHost: 1, maxDownloads: 2)
        var starts = downloads.started.makeAsyncIterator()
        _ = downloads.run("h1")
        #expect(await starts.next() == "h1")
        let waiting = await downloads.enqueue("h2", .high)
        let other = downloads.run("other", host: "o")
        #expect(await starts.next() == "other")
        downloads.finish("other")
        #expect(await other.value)
        #expect(downloads.limiter.waitingCount == 1)
        downloads.finish("h1")
        #expect(await starts.next() == "h2")
        downloads.finish("h2")
        #expect(await waiting.value)
    }

    @Test func `All hosts together stay under the total`() async {
        let downloads = Downloads(downloadsPerHost: 2, maxDownloads: 2)
        var starts = downloads.started.makeAsyncIterator()
        _ = downloads.run("a", host: "a")
        #expect(await starts.next() == "a")
        _ = downloads.run("b", host: "b")
        #expect(await starts.next() == "b")
        _ = await downloads.enqueue("c", host: "c")
        downloads.finish("a")
        #expect(await starts.next() == "c")
        downloads.finish("b")
        downloads.finish("c")
    }

    @Test func `When too many wait, a client with few takes the place of one with many`() async {
        let downloads = Downloads(downloadsPerHost: 1, maxDownloads: 1)
        var starts = downloads.started.makeAsyncIterator()
        _ = downloads.run("first", client: "greedy")
        #expect(await starts.next() == "first")
        let normal: @Sendable () -> OriginRequest.Priority = { .normal }
        let greedyOnly: @Sendable () -> [String] = { ["greedy"] }
        var greedy: [Task<Bool, Never>] = []
        for number in 1...DownloadLimiter.waitersPerSlot {
            greedy.append(await downloads.enqueue("greedy \(number)", client: "greedy"))
        }
        await #expect(throws: OriginError.timedOut(.waiting)) {
            try await downloads.limiter.withSlot(host: "h", clients: greedyOnly, urgency: normal) {}
        }
        let polite = downloads.run("polite", client: "polite")
        #expect(await greedy.last?.value == false)
        #expect(downloads.limiter.waitingCount == DownloadLimiter.waitersPerSlot)
        for download in greedy { download.cancel() }
        for download in greedy { #expect(await !download.value) }
        downloads.finish("first")
        #expect(await starts.next() == "polite")
        downloads.finish("polite")
        #expect(await polite.value)
    }

    @Test func `A canceled download leaves the queue, and the next one starts`() async {
        let downloads = Downloads(downloadsPerHost: 1, maxDownloads: 1)
        var starts = downloads.started.makeAsyncIterator()
        _ = downloads.run("first")
        #expect(await starts.next() == "first")
        let cancelled = await downloads.enqueue("cancelled")
        let next = await downloads.enqueue("next")
        cancelled.cancel()
        #expect(await !cancelled.value)
        downloads.finish("first")
        #expect(await starts.next() == "next")
        downloads.finish("next")
        #expect(await next.value)
        #expect(downloads.limiter.waitingCount == 0)
    }

    @Test func `A download canceled before it is queued never gets a slot`() async {
        let limiter = DownloadLimiter(downloadsPerHost: 1, maxDownloads: 1)
        let urgency: @Sendable () -> OriginRequest.Priority = { .normal }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await limiter.withSlot(host: "h", urgency: urgency) { true }
        }
        await #expect(throws: OriginError.cancelled) { try await task.value }
        #expect((try? await limiter.withSlot(host: "h", urgency: urgency) { true }) == true)
    }
}
