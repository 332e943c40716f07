import Synchronization
import Testing

@testable import Origin

struct DownloadGateTests {
    /// A download that says when it has begun and goes on until it is let go.
    private final class Downloads: Sendable {
        let gate: DownloadGate
        let started: AsyncStream<String>
        private let start: AsyncStream<String>.Continuation
        private let ends = Mutex<[String: CheckedContinuation<Void, Never>]>([:])

        init(_ gate: DownloadGate) {
            self.gate = gate
            (started, start) = AsyncStream.makeStream()
        }

        func run(_ name: String, host: String = "h", _ priority: OriginRequest.Priority = .normal) -> Task<Bool, Never>
        {
            Task {
                do throws(OriginError) {
                    try await gate.withSlot(host: host, priority: priority) {
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

        func finish(_ name: String) { ends.withLock { $0.removeValue(forKey: name) }?.resume() }

        /// Puts a download in line and returns once it waits there.
        func enqueue(_ name: String, host: String = "h", _ priority: OriginRequest.Priority = .normal) async -> Task<
            Bool, Never
        > {
            let before = gate.waitingCount
            let task = run(name, host: host, priority)
            while gate.waitingCount == before { await Task.yield() }
            return task
        }
    }

    @Test func `a host's line moves by priority, then in order of arrival`() async {
        let downloads = Downloads(DownloadGate(downloadsPerHost: 1, maxDownloads: 9))
        var starts = downloads.started.makeAsyncIterator()
        _ = downloads.run("first")
        #expect(await starts.next() == "first")
        for (name, priority) in [("low", .low), ("a", .normal), ("b", .normal), ("high", .high), ("c", .normal)]
            as [(String, OriginRequest.Priority)]
        {
            _ = await downloads.enqueue(name, priority)
        }
        var previous = "first"
        for name in ["high", "a", "b", "c", "low"] {
            downloads.finish(previous)
            #expect(await starts.next() == name)
            previous = name
        }
        downloads.finish(previous)
    }

    @Test func `a full host does not hold up another one`() async {
        let downloads = Downloads(DownloadGate(downloadsPerHost: 1, maxDownloads: 2))
        var starts = downloads.started.makeAsyncIterator()
        _ = downloads.run("h1")
        #expect(await starts.next() == "h1")
        let waiting = await downloads.enqueue("h2", .high)
        let other = downloads.run("other", host: "o")
        #expect(await starts.next() == "other")
        downloads.finish("other")
        #expect(await other.value)
        #expect(downloads.gate.waitingCount == 1)
        downloads.finish("h1")
        #expect(await starts.next() == "h2")
        downloads.finish("h2")
        #expect(await waiting.value)
    }

    @Test func `all hosts together stay under the total`() async {
        let downloads = Downloads(DownloadGate(downloadsPerHost: 2, maxDownloads: 2))
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

    @Test func `who is cancelled in line leaves it, and the next one is served`() async {
        let downloads = Downloads(DownloadGate(downloadsPerHost: 1, maxDownloads: 1))
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
        #expect(downloads.gate.waitingCount == 0)
    }

    @Test func `who is cancelled before standing in line never gets a slot`() async {
        let gate = DownloadGate(downloadsPerHost: 1, maxDownloads: 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await gate.withSlot(host: "h", priority: .normal) { true }
        }
        await #expect(throws: OriginError.cancelled) { try await task.value }
        #expect((try? await gate.withSlot(host: "h", priority: .normal) { true }) == true)
    }
}
