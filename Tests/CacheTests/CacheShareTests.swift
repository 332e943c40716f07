import DarkroomStore
import Testing

@testable import DarkroomCache

/// The part of the caches that one tenant may take.
struct CacheShareTests {
    private func key(_ number: Int) -> EntryKey {
        EntryKey(source: StoreKey(hashing: [1]), entry: StoreKey(hashing: [UInt8(number)]))
    }

    @Test func `The oldest entries without a hit leave for new ones`() {
        let share = CacheShare(budgetBytes: 100)
        for number in 0..<3 { #expect(share.insert(key(number), bytes: 30) == []) }
        share.recordHit(key(0))
        #expect(share.insert(key(3), bytes: 30) == [key(1)])
        #expect(share.insert(key(4), bytes: 60) == [key(2), key(3)])
        #expect(share.bytes == 90)
    }

    @Test func `An entry that is stored again counts once, and does not leave for itself`() {
        let share = CacheShare(budgetBytes: 100)
        for _ in 0..<3 { #expect(share.insert(key(1), bytes: 80) == []) }
        #expect(share.bytes == 80)
    }

    @Test func `An entry larger than the share is not stored, and no other leaves`() {
        let share = CacheShare(budgetBytes: 100)
        #expect(share.insert(key(1), bytes: 80) == [])
        #expect(share.insert(key(2), bytes: 101) == nil)
        #expect(share.bytes == 80)
        #expect(CacheShare(budgetBytes: 0).insert(key(1), bytes: 0) == nil)
    }

    @Test func `A smaller share holds from the next entry on`() {
        let share = CacheShare(budgetBytes: 100)
        for number in 0..<3 { _ = share.insert(key(number), bytes: 30) }
        share.budgetBytes = 40
        #expect(share.bytes == 90)
        #expect(share.insert(key(3), bytes: 30) == [key(0), key(1), key(2)])
    }
}
