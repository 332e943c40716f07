import Dispatch
import Foundation
import NIOCore
import Synchronization
import Testing

@testable import DarkroomStore

/// Lookups of several entries of a source, and the threads that read.
@Suite struct DiskLookupTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    private func look(_ keys: [EntryKey], in store: DiskStore) async -> [StoredEntry] {
        await withCheckedContinuation { continuation in store.look(for: keys) { continuation.resume(returning: $0) } }
    }

    @Test func `A lookup returns the entries of a source until one is missing, and counts that one`() async throws {
        let store = try await fixture.openHealed()
        for number in [1, 2, 4] { store.store(entry(number), for: key(1, number)) }
        await store.flush()
        #expect(await look([key(1, 1), key(1, 2)], in: store) == [entry(1), entry(2)])
        #expect(await look([key(1, 1), key(1, 3), key(1, 4)], in: store) == [entry(1)])
        #expect(await look([key(1, 3), key(1, 4)], in: store) == [])
        #expect(store.statistics.hits == 3)
        #expect(store.statistics.misses == 2)
    }

    @Test func `A corrupt entry among others is removed, and ends the lookup`() async throws {
        let store = try await fixture.openHealed()
        for number in 1...3 { store.store(entry(number), for: key(1, number)) }
        await store.flush()
        let file = DiskFixture.file(of: key(1, 2))
        var bytes = try fixture.folder.bytes(file)
        bytes[bytes.count - 1] ^= 1
        try fixture.folder.write(bytes, to: file)
        #expect(await look((1...3).map { key(1, $0) }, in: store) == [entry(1)])
        #expect(store.statistics.corrupt == 1)
        #expect(store.statistics.entries == 2)
    }

    @Test func `A disabled store finds nothing`() async throws {
        let store = try await fixture.open { $0.budgetBytes = 0 }
        #expect(await look([key(1, 1), key(1, 2)], in: store) == [])
        #expect(store.entriesAtOnce(for: [key(1)]) == nil)
        #expect(store.statistics.misses == 1)
    }
}

@Suite struct ReaderThreadsTests {
    /// Starts a lookup; the stream has its answer.
    private func look(
        in threads: ReaderThreads, at now: ContinuousClock.Instant = .now,
        work: @escaping @Sendable () -> Void = {}
    ) -> AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream<Bool>.makeStream()
        threads.append(
            ReadJob(at: now, read: work) { found in
                continuation.yield(found != nil)
                continuation.finish()
            })
        return stream
    }

    private func answers(_ stream: AsyncStream<Bool>) async -> [Bool] {
        await stream.reduce(into: []) { $0.append($1) }
    }

    @Test func `A stuck lookup holds up one thread, and is answered once when its time is up`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let threads = ReaderThreads(count: 2)
        let stuck = look(in: threads, at: .now - .seconds(10)) { gate.wait() }
        for _ in 2...50 { #expect(await answers(look(in: threads)) == [true]) }
        threads.expire(queuedBefore: .now - ReaderThreads.lookupTimeout)
        #expect(await answers(stuck) == [false])
        gate.signal()
        await threads.end()
    }

    @Test func `Lookups behind stuck threads are answered when their time is up`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let threads = ReaderThreads(count: 1)
        let now = ContinuousClock.now
        let old = (1...3).map { _ in look(in: threads, at: now - .seconds(10)) { gate.wait() } }
        let new = look(in: threads, at: now) { gate.wait() }
        threads.expire(queuedBefore: now - ReaderThreads.lookupTimeout)
        for stream in old { #expect(await answers(stream) == [false]) }
        gate.signal()
        gate.signal()
        #expect(await answers(new) == [true])
        await threads.end()
    }

    @Test func `Threads may end with the job that holds them last`() async {
        for _ in 0..<20 {
            await withCheckedContinuation { continuation in
                let threads = ReaderThreads(count: 1)
                threads.append(
                    ReadJob(
                        at: .now, read: { withExtendedLifetime(threads) {} }, answer: { _ in continuation.resume() }))
            }
        }
    }

    @Test func `Ending waits for the jobs that are queued, and refuses others`() async throws {
        let done = Atomic(0)
        let threads = ReaderThreads(count: 3)
        let streams = (1...100).map { _ in look(in: threads) { done.add(1, ordering: .relaxed) } }
        await threads.end()
        #expect(done.load(ordering: .relaxed) == 100)
        for stream in streams { #expect(await answers(stream) == [true]) }
        #expect(await answers(look(in: threads)) == [false])
    }
}
