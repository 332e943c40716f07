import DarkroomTestClock
import DarkroomTestLogs
import Foundation
import NIOCore
import Testing

@testable import DarkroomStore

/// Entries past their age, and clocks that are set.
@Suite struct DiskExpiryTests {
    private static let day = 86_400.0

    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture(budgetBytes: DiskBudgetTests.budget(for: 20)) }

    private func open() async throws -> DiskStore {
        try await fixture.openHealed { $0.maxAge = .seconds(100) }
    }

    private func found(_ numbers: ClosedRange<Int>, in store: DiskStore) async -> [Int] {
        var found: [Int] = []
        for number in numbers where await store.entry(for: key(number)) != nil { found.append(number) }
        return found
    }

    /// Three entries are written; after 60 s the first is read and the second written again; after 60 s more these are
    /// left.
    @Test(arguments: [false, true])
    func `An entry past its age is a miss and is removed on demand`(isReopened: Bool) async throws {
        let left = [1, 2]
        var store = try await open()
        for number in 1...3 { store.store(entry(), for: key(number)) }
        await store.flush()
        fixture.clock.advance(by: .seconds(60))
        #expect(await store.entry(for: key(1)) == entry())
        store.store(entry(filler: 2), for: key(2))
        // Without a flush, which would tell the index of the use.
        #expect(await store.storeAndWait(entry(filler: 2), for: key(2)))
        fixture.clock.advance(by: .seconds(60))
        if isReopened {
            await store.close()
            store = try await open()
        }
        #expect(await found(1...3, in: store) == left)
        #expect(await store.entry(for: key(3)) == nil)
        #expect(store.statistics.entries == 3)
        let removed = await store.removeExpired()
        #expect(removed == StoreTotals(entries: 3 - left.count, bytes: (3 - left.count) * 4096))
        #expect(store.statistics.expirations == 3 - left.count)
        #expect(await found(1...3, in: store) == left)
        #expect(fixture.folder.files(below: "entries").count == left.count)
        #expect(store.statistics.corrupt == 0)
        #expect(await store.removeExpired() == StoreTotals())
    }

    @Test func `An entry expires just after its age, not at it`() async throws {
        let store = try await open()
        store.store(entry(), for: key(1))
        await store.flush()
        fixture.clock.advance(by: .seconds(100))
        // Unlike a lookup, a peek is no use.
        #expect(await store.peek(key(1)) != nil)
        #expect(await store.removeExpired().entries == 0)
        fixture.clock.advance(by: .seconds(0.001))
        #expect(await store.entry(for: key(1)) == nil)
        #expect(await store.removeExpired().entries == 1)
    }

    @Test func `Adopted files keep the age of their last write`() async throws {
        var store = try await open()
        store.store(entry(filler: 1), for: key(1))
        await store.flush()
        fixture.clock.advance(by: .seconds(60))
        store.store(entry(filler: 2), for: key(1))
        await store.close()
        try fixture.folder.remove("index.sqlite")
        fixture.clock.advance(by: .seconds(60))
        store = try await open()
        #expect(store.statistics.entries == 1)
        #expect(await store.peek(key(1)) == entry(filler: 2))
        fixture.clock.advance(by: .seconds(41))
        #expect(await store.peek(key(1)) == nil)
    }

    @Test func `Nothing expires without a maximum age`() async throws {
        let store = try await fixture.open()
        store.store(entry(), for: key(1))
        await store.flush()
        fixture.clock.advance(by: .seconds(10_000 * Self.day))
        #expect(await store.entry(for: key(1)) != nil)
        #expect(await store.removeExpired() == StoreTotals())
    }

    @Test(arguments: [-30 * day, 30 * day])
    func `Setting the clock while the store is open changes nothing`(jump: Double) async throws {
        let store = try await open()
        for number in 1...10 {
            fixture.clock.advance(by: .seconds(1))
            store.store(DiskBudgetTests.large(), for: key(number))
            await store.flush()
        }
        fixture.clock.setDate(ahead: jump)
        #expect(await store.removeExpired() == StoreTotals())
        for number in 11...21 {
            fixture.clock.advance(by: .seconds(1))
            store.store(DiskBudgetTests.large(), for: key(number))
            await store.flush()
        }
        #expect(await found(1...21, in: store) == Array(4...21), "the oldest were evicted")
        fixture.clock.advance(by: .seconds(101))
        #expect(await store.removeExpired().entries == 18)
    }

    @Test(arguments: [-30 * day, 30 * day])
    func `Setting the clock between two openings never makes new entries older than old ones`(
        jump: Double
    ) async throws {
        var store = try await fixture.open()
        for number in 1...10 {
            fixture.clock.advance(by: .seconds(1))
            store.store(DiskBudgetTests.large(), for: key(number))
            await store.flush()
        }
        fixture.clock.setDate(ahead: jump)
        await store.close()
        store = try await open()
        for number in 11...21 {
            fixture.clock.advance(by: .seconds(1))
            store.store(DiskBudgetTests.large(), for: key(number))
            await store.flush()
        }
        // Set back, no time has passed, and the oldest were evicted; set ahead, all that was there is past its age.
        #expect(await found(1...21, in: store) == Array((jump < 0 ? 4 : 11)...21))
    }

    @Test func `Files from the future are adopted, and don't outlive entries in use`() async throws {
        fixture.clock.setDate(ahead: 30 * Self.day)
        var store = try await fixture.open()
        for number in 1...10 { store.store(DiskBudgetTests.large(), for: key(number)) }
        await store.close()
        try fixture.folder.remove("index.sqlite")
        fixture.clock.setDate(ahead: -30 * Self.day)
        store = try await open()
        #expect(store.statistics.entries == 10)
        for number in 11...21 {
            fixture.clock.advance(by: .seconds(1))
            store.store(DiskBudgetTests.large(), for: key(number))
            await store.flush()
        }
        #expect(await found(11...21, in: store) == Array(11...21))
    }

    @Test(arguments: [Int64.min, -1, 0, 1, Int64.max])
    func `An implausible time in the index is harmless`(time: Int64) async throws {
        var store = try await fixture.open()
        store.store(entry(), for: key(1))
        await store.close()
        try fixture.execute("UPDATE state SET time = \(time), reconciled = \(time)")
        store = try await fixture.openHealed()
        fixture.clock.advance(by: .seconds(1))
        store.store(entry(filler: 2), for: key(2))
        await store.flush()
        #expect(await store.entry(for: key(1)) == entry())
        #expect(await store.entry(for: key(2)) == entry(filler: 2))
        #expect(fixture.log.lines.isEmpty)
    }
}
