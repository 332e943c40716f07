import DarkroomTestLogs
import Foundation
import Synchronization
import Testing

@testable import DarkroomStore

/// The health of the store, and the probe that ends an outage.
@Suite struct DiskHealthTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    /// The health once the probe that asking starts is done. No probe runs before or after.
    private func isHealthy(_ store: DiskStore) async -> Bool {
        _ = store.isHealthy()
        await store.flush()
        let isHealthy = store.isHealthy()
        await store.flush()
        return isHealthy
    }

    @Test func `A store without failures is healthy, and so is a disabled one`() async throws {
        let store = try await fixture.openHealed { $0.directory = fixture.folder("cache") }
        #expect(store.isHealthy())
        #expect(await store.storeAndWait(entry(), for: key(1)))
        #expect(store.isHealthy())
        #expect(try await fixture.open { $0.budgetBytes = 0 }.isHealthy())
    }

    @Test func `A directory in whose place is a file is unhealthy until the file is gone, without a write by a caller`()
        async throws
    {
        let store = try await fixture.openHealed { $0.directory = fixture.folder("cache") }
        // The store may be quicker to make the directory again, any number of times.
        repeat { try? fixture.folder.remove("cache") } while (try? fixture.folder.write(Data(), to: "cache")) == nil
        #expect(await !store.storeAndWait(entry(), for: key(1)))
        #expect(await !isHealthy(store))
        #expect(await !isHealthy(store))
        try fixture.folder.remove("cache")
        #expect(await isHealthy(store))
        #expect(store.statistics.entries == 0)
        #expect(store.statistics.bytes == 0)
        #expect(await store.storeAndWait(entry(), for: key(1)))
        #expect(fixture.log.count(of: "notice: disk cache: the directory is in place again") == 1)
    }

    @Test func `A nearly full volume is no failure`() async throws {
        let store = try await fixture.openHealed { $0.directory = fixture.folder("cache") }
        fixture.volume.withLock { $0 = 0.01 }
        #expect(await !store.storeAndWait(entry(), for: key(1)))
        #expect(store.isHealthy())
    }

    @Test(.enabled(if: Volume.isMountable))
    func `A full volume is no failure, and is written again once there is room`() async throws {
        let volume = try Volume(bytes: 8 << 20)
        let store = try await fixture.open {
            $0.directory = volume.path + "/cache"
            $0.budgetBytes = 1 << 30
        }
        try volume.fill(leaving: 100_000)
        #expect(await !store.storeAndWait(entry(1_000_000), for: key(1)))
        #expect(await isHealthy(store))
        #expect(await !store.storeAndWait(entry(1_000_000), for: key(1)))
        try volume.empty()
        #expect(await store.storeAndWait(entry(1_000_000), for: key(1)))
        #expect(await isHealthy(store))
        #expect(fixture.log.count(of: "warning: disk cache: writing stopped: the volume is nearly full") == 1)
        #expect(fixture.log.count(of: "notice: disk cache: writing resumed: the volume has space again") == 1)
        await store.close()
    }

    @Test(.enabled(if: Volume.isMountable))
    func `A volume that becomes read-only fails until it can be written again`() async throws {
        let volume = try Volume(bytes: 8 << 20)
        let store = try await fixture.open { $0.directory = volume.path + "/cache" }
        #expect(await store.storeAndWait(entry(), for: key(1)))
        try volume.setReadOnly(true)
        #expect(await !store.storeAndWait(entry(), for: key(2)))
        #expect(await !isHealthy(store))
        try volume.setReadOnly(false)
        #expect(await isHealthy(store))
        #expect(await store.entry(for: key(1)) == entry())
        await store.close()
    }
}
