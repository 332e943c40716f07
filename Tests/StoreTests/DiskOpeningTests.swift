import DarkroomTestClock
import DarkroomTestLogs
import Foundation
import NIOCore
import Testing

@testable import DarkroomStore

/// When index and files are compared, and when not: with a million entries it takes long.
@Suite struct DiskOpeningTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    /// Leaves a closed store with one entry, and a file that only a comparison finds.
    private func fill() async throws -> String {
        let store = try await fixture.openHealed()
        store.store(entry(), for: key(1))
        await store.close()
        let stranger = DiskFixture.file(of: key(1)) + ".partial"
        try fixture.folder.write(Data([1]), to: stranger)
        return stranger
    }

    @Test func `A store that was closed opens without reading its files`() async throws {
        let stranger = try await fill()
        let store = try await fixture.openHealed()
        #expect(fixture.folder.exists(stranger))
        #expect(store.statistics.entries == 1)
        #expect(store.statistics.bytes == 4096)
    }

    @Test func `A store that was killed compares its files after it has opened`() async throws {
        let stranger = try await fill()
        try fixture.forgetClosing()
        _ = try await fixture.openHealed()
        #expect(!fixture.folder.exists(stranger))
    }

    @Test func `A comparison that was not completed is repeated at the next opening`() async throws {
        let stranger = try await fill()
        try fixture.execute("UPDATE state SET reconciled = 0")
        _ = try await fixture.openHealed()
        #expect(!fixture.folder.exists(stranger))
    }

    @Test(arguments: [6.9, 7.1]) func `Files are compared once a week`(days: Double) async throws {
        let stranger = try await fill()
        fixture.clock.advance(by: .seconds(days * 86_400))
        _ = try await fixture.openHealed()
        #expect(fixture.folder.exists(stranger) == (days < 7))
    }

    @Test func `The store serves and takes entries while it rebuilds lost rows`() async throws {
        var store = try await fixture.open()
        for number in 1...300 { store.store(entry(10), for: key(number)) }
        await store.close()
        try fixture.folder.remove("index.sqlite")
        store = try await fixture.open()
        // Some of them may be adopted by now; none is corrupt.
        for number in 1...300 {
            let found = await store.entry(for: key(number))
            #expect(found == nil || found == entry(10))
            if number.isMultiple(of: 3) { store.store(entry(20), for: key(number)) }
            if number.isMultiple(of: 5) { await store.remove(key(number)) }
        }
        await store.waitUntilHealed()
        for number in 1...300 {
            let expected = number.isMultiple(of: 5) ? nil : entry(number.isMultiple(of: 3) ? 20 : 10)
            #expect(await store.entry(for: key(number)) == expected, "entry \(number)")
        }
        #expect(store.statistics.corrupt == 0)
        let files = fixture.folder.files(below: "entries")
        #expect(store.statistics.entries == files.count)
        #expect(store.statistics.bytes == (try fixture.entryBlocks()))
    }

    @Test func `An entry written between two slices of a comparison stays`() throws {
        let directory = DiskLayout(fixture.folder.path)
        try directory.makeFolders()
        let index = try DiskIndex(path: directory.index) { last in
            MonotonicClock(now: fixture.clock.date, last: last, uptime: { .zero })
        }
        /// Writes 100 entries of a source whose key begins with this byte.
        func write(_ second: UInt8) throws -> EntryKey {
            let source = try #require(StoreKey(digest: [second, 0x70] + [UInt8](repeating: 0, count: 30)))
            let keys = (0..<100).map { EntryKey(source: source, entry: key(1, $0).entry) }
            for key in keys {
                let head = EntryHeader(of: entry(), labels: .none, key: key, created: 0, modified: 0)
                try directory.write([head.bytes, entry().metadata], body: entry().content, for: key)
                _ = try index.apply(puts: [head.record])
            }
            return keys[0]
        }
        for second in 0..<12 { _ = try write(UInt8(2 * second)) }
        var reconciliation = Reconciliation(directory)
        var slices = 0
        var late: [EntryKey] = []
        while !reconciliation.isDone {
            #expect(try reconciliation.runSlice(index) == StoreTotals())
            slices += 1
            // The folders are listed, and looked through in part.
            if slices == 2 { late = [try write(1), try write(21)] }
        }
        #expect(slices == 4, "a slice ends with the folder that has its 256th file")
        for key in late { #expect(try index.rows(for: [key]).count == 1) }
        index.close()
    }

    @Test func `A comparison that failed goes on after a successful write`() async throws {
        var store = try await fixture.open()
        for number in 1...9 { store.store(entry(), for: key(number)) }
        await store.close()
        try fixture.forgetClosing()
        try fixture.execute(
            """
            DELETE FROM entry WHERE \((1...5).map { "source = x'\(key($0).source.hex)'" }.joined(separator: " OR "));
            CREATE TRIGGER refusal BEFORE INSERT ON entry BEGIN SELECT RAISE(FAIL, 'no'); END;
            """)
        store = try await fixture.openHealed()
        #expect(await store.entry(for: key(1)) == nil)
        #expect(await store.entry(for: key(9)) == entry())
        #expect(fixture.log.lines.count == 1)
        #expect(fixture.log.count(of: "warning: disk cache: writing fails") == 1)
        try fixture.execute("DROP TRIGGER refusal")
        #expect(await store.storeAndWait(entry(), for: key(10)))
        await store.waitUntilHealed()
        for number in 1...10 { #expect(await store.entry(for: key(number)) == entry(), "entry \(number)") }
        #expect(store.statistics.entries == 10)
        #expect(fixture.log.count(of: "adopted files without a row in the index [\"count\": 5]") == 1)
    }

    @Test func `Adopted files that exceed the budget are evicted`() async throws {
        var store = try await fixture.open()
        for number in 1...20 { store.store(DiskBudgetTests.large(), for: key(number)) }
        await store.close()
        try fixture.folder.remove("index.sqlite")
        store = try await fixture.openHealed { $0.budgetBytes = DiskBudgetTests.budget(for: 10) }
        #expect(9...10 ~= store.statistics.entries)
        #expect(fixture.folder.files(below: "entries").count == store.statistics.entries)
    }

    @Test func `Writes that are queued together are one transaction`() async throws {
        let gate = WriterGate()
        let store = try await gate.open(fixture)
        await store.waitUntilHealed()
        let before = try fixture.transactionCount()
        for number in 1...50 { store.store(entry(10, labels: ["host:a"]), for: key(number)) }
        gate.lift()
        await store.flush()
        // The first may have begun alone.
        #expect(try fixture.transactionCount() <= before + 3)
        #expect(store.statistics.entries == 50)
        for number in 1...50 { #expect(await store.entry(for: key(number)) == entry(10, labels: ["host:a"])) }
    }

    @Test func `An awaited entry is readable, and an entry that can't be stored is reported`() async throws {
        let store = try await fixture.open()
        async let first = store.storeAndWait(entry(filler: 1), for: key(1))
        async let second = store.storeAndWait(entry(filler: 2), for: key(2))
        let areWritten = await (first, second)
        #expect(areWritten == (true, true))
        #expect(await store.entry(for: key(1)) == entry(filler: 1))
        #expect(await store.entry(for: key(2)) == entry(filler: 2))
        #expect(await !store.storeAndWait(entry(fixture.budgetBytes), for: key(3)), "larger than the budget")
        await store.close()
        #expect(await !store.storeAndWait(entry(), for: key(4)), "closed")
    }
}
