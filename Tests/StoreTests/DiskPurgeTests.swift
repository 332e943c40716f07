import DarkroomTestLogs
import Foundation
import NIOCore
import Testing

@testable import DarkroomStore

/// Removing many entries at once.
@Suite struct DiskPurgeTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture(budgetBytes: 1 << 30) }

    @Test func `A source with a thousand variants is removed in one transaction`() async throws {
        var store = try await fixture.openHealed()
        for number in 0..<1000 { store.store(entry(10, labels: ["host:a", "tag:b"]), for: key(1, number)) }
        store.store(entry(10), for: key(2))
        await store.close()
        store = try await fixture.openHealed()
        let before = try fixture.transactionCount()
        let bytes = store.statistics.bytes
        let removed = await store.removeAll(ofSources: [key(1).source])
        #expect(try fixture.transactionCount() == before + 1)
        #expect(removed.entries == 1000)
        #expect(removed.bytes == bytes - store.statistics.bytes)
        #expect(store.statistics.entries == 1)
        #expect(fixture.folder.files(below: "entries") == [DiskFixture.file(of: key(2))])
        #expect(await store.sources(matching: .all) == [key(2).source])
    }

    @Test func `Many sources are removed in few transactions, and their totals are reported before`() async throws {
        var store = try await fixture.openHealed()
        for number in 0..<600 { store.store(entry(10), for: key(number / 2, number)) }
        await store.close()
        store = try await fixture.openHealed()
        let sources = await store.sources(matching: .all)
        let totals = await store.totals(ofSources: sources + [key(1000).source])
        #expect(totals.count == 300)
        #expect(totals[key(7).source] == StoreTotals(entries: 2, bytes: 2 * 4096))
        #expect(store.statistics.entries == 600, "a dry run removes nothing")
        let before = try fixture.transactionCount()
        let removed = await store.removeAll(ofSources: sources)
        #expect(try fixture.transactionCount() == before + 1)
        #expect(removed == StoreTotals(entries: 600, bytes: totals.values.reduce(0) { $0 + $1.bytes }))
        #expect(store.statistics.bytes == 0)
        #expect(fixture.folder.files(below: "entries") == [])
    }

    @Test func `A removal comes after the writes queued before it and before the writes queued later`() async throws {
        let gate = WriterGate()
        let store = try await gate.open(fixture)
        store.store(entry(filler: 1), for: key(1))
        async let removed = store.removeAll(ofSources: [key(1).source])
        gate.lift()
        #expect(await removed.entries <= 1)
        store.store(entry(filler: 2), for: key(1))
        await store.flush()
        #expect(await store.entry(for: key(1)) == entry(filler: 2))
        #expect(await store.removeAll(ofSources: [key(1).source]).entries == 1)
        #expect(await store.removeAll(ofSources: []) == StoreTotals())
    }

    @Test func `Everything is removed at once, and can be stored again`() async throws {
        let store = try await fixture.open()
        for number in 0..<300 { store.store(entry(10, labels: ["host:a"]), for: key(number)) }
        let removed = await store.removeEverything()
        #expect(removed == StoreTotals(entries: 300, bytes: 300 * 4096))
        #expect(store.statistics.entries == 0)
        #expect(store.statistics.bytes == 0)
        #expect(fixture.folder.files(below: "entries") == [])
        #expect(await store.entry(for: key(1)) == nil)
        #expect(await store.storeAndWait(entry(filler: 2), for: key(1)))
        #expect(await store.entry(for: key(1)) == entry(filler: 2))
        #expect(fixture.log.lines.isEmpty)
    }

    @Test func `Removed files that are left when the store closes are deleted after the next opening`() async throws {
        let store = try await fixture.open()
        for number in 0..<600 { store.store(entry(1), for: key(number)) }
        await store.removeEverything()
        await store.close()
        let next = try await fixture.open()
        await deleteFoldersSetAside(of: next)
        #expect(fixture.folder.files(below: "tmp") == [])
        #expect(next.statistics.entries == 0)
    }

    @Test func `A purge before lost rows are rebuilt removes their files too`() async throws {
        var store = try await fixture.open()
        for number in 1...3 { store.store(entry(), for: key(1, number)) }
        store.store(entry(), for: key(2))
        await store.close()
        try fixture.folder.remove("index.sqlite")
        store = try await fixture.open()
        await store.removeAll(ofSources: [key(1).source])
        await store.waitUntilHealed()
        #expect(await store.entry(for: key(1, 1)) == nil)
        #expect(await store.entry(for: key(2)) == entry())
        #expect(store.statistics.entries == 1)
    }

    /// Returns once no folder that was set aside is left; each step of the writer deletes a part.
    private func deleteFoldersSetAside(of store: DiskStore) async {
        while !DiskLayout(fixture.folder.path).foldersSetAside.isEmpty { await store.flush() }
    }
}
