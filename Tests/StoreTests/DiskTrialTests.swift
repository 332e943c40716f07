import Foundation
import Synchronization
import Testing

@testable import DarkroomStore

/// Whether the store says that its volume fails, and finds out by itself when it works again.
@Suite struct DiskTrialTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    /// What asking says once what it set going is done.
    private func isWorking(_ store: DiskStore) async -> Bool {
        _ = store.isHealthy()
        await store.flush()
        return store.isHealthy()
    }

    @Test func `a store that nothing befell works, and so does one that is disabled`() async throws {
        let store = try await fixture.openHealed { $0.directory = fixture.folder("cache") }
        #expect(store.isHealthy())
        #expect(await store.storeAndWait(entry(), for: key(1)))
        #expect(store.isHealthy())
        #expect(try await fixture.open { $0.budgetBytes = 0 }.isHealthy())
    }

    @Test func `a directory in whose place is a file fails until the file is gone, and nobody need write for that`()
        async throws
    {
        let store = try await fixture.openHealed { $0.directory = fixture.folder("cache") }
        // The store may be quicker to make the directory again, any number of times.
        repeat { try? fixture.folder.remove("cache") } while (try? fixture.folder.write(Data(), to: "cache")) == nil
        #expect(await !store.storeAndWait(entry(), for: key(1)))
        #expect(await !isWorking(store))
        #expect(await !isWorking(store))
        try fixture.folder.remove("cache")
        #expect(await isWorking(store))
        #expect(store.statistics.entries == 0)
        #expect(store.statistics.bytes == 0)
        #expect(await store.storeAndWait(entry(), for: key(1)))
        #expect(fixture.log.count(of: "notice: disk cache: no longer without its directory") == 1)
    }

    @Test func `a volume that is nearly full is no failure`() async throws {
        let store = try await fixture.openHealed { $0.directory = fixture.folder("cache") }
        fixture.volume.withLock { $0 = 0.01 }
        #expect(await !store.storeAndWait(entry(), for: key(1)))
        #expect(store.isHealthy())
    }

    @Test(.enabled(if: Volume.isMountable))
    func `a write that failed on a full volume is tried again until there is room`() async throws {
        let volume = try Volume(bytes: 8 << 20)
        let store = try await fixture.open {
            $0.directory = volume.path + "/cache"
            $0.budgetBytes = 1 << 30
        }
        try volume.fill(leaving: 100_000)
        #expect(await !store.storeAndWait(entry(1_000_000), for: key(1)))
        for _ in 0..<3 { #expect(await !isWorking(store)) }
        try volume.empty()
        #expect(await isWorking(store))
        #expect(store.statistics.entries == 0)
        #expect(fixture.log.count(of: "warning: disk cache: writing fails") == 1)
        #expect(fixture.log.count(of: "notice: disk cache: no longer writing fails") == 1)
        await store.close()
    }

    @Test(.enabled(if: Volume.isMountable))
    func `a volume that becomes read-only fails until it can be written again`() async throws {
        let volume = try Volume(bytes: 8 << 20)
        let store = try await fixture.open { $0.directory = volume.path + "/cache" }
        #expect(await store.storeAndWait(entry(), for: key(1)))
        try volume.setReadOnly(true)
        #expect(await !store.storeAndWait(entry(), for: key(2)))
        #expect(await !isWorking(store))
        try volume.setReadOnly(false)
        #expect(await isWorking(store))
        #expect(await store.entry(for: key(1)) == entry())
        await store.close()
    }
}
