import Synchronization

/// When entries were last used, in microseconds since 1970, as far as the index doesn't know yet: a hit costs no write.
final class LastUses: Sendable {
    private let uses = Mutex<[EntryKey: Int64]>([:])
    private let batch: Int

    /// Asks for a write after each `batch` entries.
    init(batch: Int) {
        self.batch = batch
    }

    /// Notes a use.
    /// - Returns: whether it's time to write what is noted.
    func note(_ key: EntryKey, at time: Int64) -> Bool {
        uses.withLock { uses in
            let isNew = uses.updateValue(time, forKey: key) == nil
            return isNew && uses.count.isMultiple(of: batch)
        }
    }

    /// When the entry was last used, as far as it is noted here.
    func time(of key: EntryKey) -> Int64? {
        uses.withLock { $0[key] }
    }

    /// Hands over all that is noted and begins anew.
    func take() -> [EntryKey: Int64] {
        uses.withLock { uses in
            defer { uses = [:] }
            return uses
        }
    }
}
