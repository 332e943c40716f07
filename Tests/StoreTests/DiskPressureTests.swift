import DarkroomTestLogs
import Foundation
import NIOCore
import Synchronization
import Testing

@testable import DarkroomStore

@Suite struct DiskPressureTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    @Test
    func `Below 5 percent of free space nothing is written unless evicting helps, which is logged at begin and end`()
        async throws
    {
        let store = try await fixture.open()
        fixture.volume.withLock { $0 = 0.05 }
        store.store(entry(), for: key(0))
        store.store(entry(), for: key(1))
        await store.flush()
        #expect(fixture.log.lines.isEmpty)

        fixture.volume.withLock { $0 = 0.049 }
        for number in 2...4 { store.store(entry(), for: key(number)) }
        await store.flush()
        // Another program takes what is freed: no more is evicted.
        #expect(store.statistics.evictions == 1)
        #expect(store.statistics.entries == 1)
        #expect(store.statistics.droppedWrites == 3)
        var left = 0
        for number in 0...1 where await store.entry(for: key(number)) != nil { left += 1 }
        #expect(left == 1)
        #expect(fixture.log.lines.count == 1)
        #expect(fixture.log.count(of: "warning: disk cache: writing stopped: the volume is nearly full") == 1)

        fixture.volume.withLock { $0 = 0.2 }
        // The first shows that there is room again.
        #expect(await store.storeAndWait(entry(), for: key(5)))
        for number in 6...7 { store.store(entry(), for: key(number)) }
        await store.flush()
        #expect(store.statistics.entries == 4)
        #expect(fixture.log.lines.count == 2)
        #expect(fixture.log.lines.last?.hasPrefix("notice: ") == true)
    }

    @Test func `The system reports how much of a volume is free`() throws {
        let free = try #require(DiskStore.freeFraction(ofVolume: fixture.folder.path))
        #expect(free > 0 && free < 1)
        #expect(DiskStore.freeFraction(ofVolume: fixture.folder("none")) == nil)
    }

    @Test func `A full queue of entries drops the newest at once and writes the rest`() async throws {
        let gate = WriterGate()
        let store = try await gate.open(fixture) { $0.queuedEntries = 3 }
        for number in 1...5 { store.store(entry(), for: key(number)) }
        #expect(store.statistics.queuedWrites == 3)
        #expect(store.statistics.droppedWrites == 2)
        gate.lift()
        await store.flush()
        #expect(store.statistics.queuedWrites == 0)
        #expect(store.statistics.entries == 3)
        #expect(await store.entry(for: key(3)) != nil)
        #expect(await store.entry(for: key(4)) == nil)
    }

    @Test func `A queue full of bytes drops what is too large, takes what still fits, and is empty again afterwards`()
        async throws
    {
        let gate = WriterGate()
        let store = try await gate.open(fixture) { $0.queuedBytes = 10_000 }
        store.store(entry(6000), for: key(1))
        store.store(entry(6000), for: key(2))
        store.store(entry(2000), for: key(3))
        #expect(store.statistics.queuedWrites == 2)
        #expect(store.statistics.droppedWrites == 1)
        gate.lift()
        await store.flush()
        #expect(store.statistics.entries == 2)

        gate.close()
        store.store(entry(6000), for: key(4))
        store.store(entry(2000), for: key(5))
        #expect(store.statistics.queuedWrites == 2)
        #expect(store.statistics.droppedWrites == 1)
        gate.lift()
        await store.flush()
        #expect(store.statistics.entries == 4)
    }

    @Test func `An entry larger than the queue is taken when nothing else waits`() async throws {
        let gate = WriterGate()
        let store = try await gate.open(fixture) { $0.queuedBytes = 1000 }
        store.store(entry(5000), for: key(1))
        store.store(entry(10), for: key(2))
        gate.lift()
        await store.flush()
        #expect(await store.entry(for: key(1)) != nil)
        #expect(store.statistics.droppedWrites == 1)
    }

    @Test func `An entry that waits to be written is not found yet`() async throws {
        let gate = WriterGate()
        let store = try await gate.open(fixture)
        store.store(entry(), for: key(1))
        #expect(await store.entry(for: key(1)) == nil)
        gate.lift()
        await store.flush()
        #expect(await store.entry(for: key(1)) != nil)
    }

    @Test func `Closing writes what waits`() async throws {
        let store = try await fixture.open()
        for number in 1...50 { store.store(entry(), for: key(number)) }
        await store.close()
        #expect(try fixture.rowCount() == 50)
    }
}
