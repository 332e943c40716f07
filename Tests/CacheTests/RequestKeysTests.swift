import DarkroomStore
import Testing

@testable import DarkroomCache

/// The keys of a request.
struct RequestKeysTests {
    private func keys(_ identity: String, _ variant: String) -> RequestKeys {
        RequestKeys(source: RequestKeys.source(identity), variant: StoreKey(hashing: variant.utf8))
    }

    @Test func `The images of a source share the entries of its record and its original`() {
        let (small, large) = (keys("a", "small"), keys("a", "large"))
        #expect(small.source == large.source && small.record == large.record && small.original == large.original)
        #expect(small != large && small.with(variant: large.variant.entry) == large)
        #expect(keys("b", "small").record != small.record && keys("b", "small") != small)
    }

    @Test func `The entries of a source are its own, each with another key`() {
        let keys = keys("a", "small")
        let entries = [keys.record, keys.original, keys.variant]
        #expect(entries.allSatisfy { $0.source == keys.source })
        #expect(Set(entries).count == 3)
        #expect(keys.record == RequestKeys.record(of: keys.source))
        #expect(keys.original == RequestKeys.original(of: keys.source))
    }
}
