import DarkroomEviction
import DarkroomRequests
package import DarkroomStore
import Synchronization

/// The part of the caches that the entries of one tenant may take.
///
/// It lists the entries that the tenant's requests stored. Beyond its budget, entries of the same tenant are evicted,
/// entries without a recent hit first, so that the tenant does not evict the entries of other tenants. Entries that
/// were evicted or purged stay in the list until newer ones replace them. An entry of the list takes about 250 bytes.
package final class CacheShare: AccountShare {
    private struct State {
        var budgetBytes: Int
        var entries = SieveTable<StoreKey, EntryKey>(budgetBytes: .max)
    }

    private let state: Mutex<State>

    /// - Parameter budgetBytes: the most bytes of bodies; 0 = nothing is stored.
    package init(budgetBytes: Int) {
        state = Mutex(State(budgetBytes: budgetBytes))
    }

    /// The maximum number of bytes of the entries. If it is lowered, entries are evicted when the next entry is stored.
    package var budgetBytes: Int {
        get { state.withLock(\.budgetBytes) }
        set { state.withLock { $0.budgetBytes = newValue } }
    }

    /// The bytes of the listed entries.
    package var bytes: Int { state.withLock { $0.entries.bytes } }

    /// Lists an entry that is about to be stored.
    ///
    /// - Returns: the entries that have to leave the caches for it; nil if the entry alone exceeds the budget and must
    ///   not be stored.
    package func insert(_ key: EntryKey, bytes: Int) -> [EntryKey]? {
        state.withLock { state in
            let bytes = max(1, bytes)
            guard bytes <= state.budgetBytes else { return nil }
            _ = state.entries.remove(for: key.entry)
            let leaving = state.entries.shrink(toBytes: state.budgetBytes - bytes)
            _ = state.entries.insert(key, cost: bytes, for: key.entry)
            return leaving
        }
    }

    /// Counts a hit, which lets the entry stay longer than others of the tenant.
    package func recordHit(_ key: EntryKey) {
        state.withLock { _ = $0.entries.value(for: key.entry) }
    }
}
