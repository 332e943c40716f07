import Synchronization

/// An in-memory filter of the keys that may be in the index. The lookup of any other key needs no query.
///
/// Keys are never taken out: the filter is filled again from the index once as many keys have been inserted as it had
/// entries. Until it has been filled for the first time, any key may be in the index.
final class KeyFilter: Sendable {
    private struct State {
        /// Has all keys of the index; nil until the filter has been filled for the first time.
        var complete: BloomFilter?
        /// Has the keys of the rows up to `position`, and the keys inserted since the filling began.
        var partial: BloomFilter?
        var position = IndexPosition.start
        /// The number of keys that may be inserted until the next filling begins; nil once filling has stopped because
        /// the index cannot be read.
        var room: Int? = 0
    }

    /// The minimum capacity of a filter.
    private static let minimumEntries = 2048

    private let state = Mutex(State())

    /// False only if the index does not have the key.
    func mayContain(_ key: EntryKey) -> Bool { state.withLock { $0.complete?.mayContain(key) ?? true } }

    /// Inserts a key, before its row is inserted into the index.
    /// - Returns: true only if the index did not have the key.
    func insert(_ key: EntryKey) -> Bool {
        state.withLock { state in
            let isNew = state.complete.map { !$0.mayContain(key) } ?? false
            state.complete?.insert(key)
            state.partial?.insert(key)
            if let room = state.room, room > 0 { state.room = room - 1 }
            return isNew
        }
    }

    // MARK: Filling

    /// Whether the keys of further rows are to be added.
    var isFilling: Bool { state.withLock { $0.room == 0 } }

    /// Begins or continues to fill the filter.
    ///
    /// - Parameters:
    ///   - entries: the number of entries in the index.
    ///   - rows: the first rows after a position; none at the end.
    func fill<Failure: Error>(
        entries: Int, _ rows: (IndexPosition) throws(Failure) -> [IndexPosition]
    ) throws(Failure) {
        let expected = max(entries, Self.minimumEntries)
        let position = state.withLock { state in
            if state.partial == nil {
                // Twice the entries, since as many keys may be inserted later.
                (state.partial, state.position) = (BloomFilter(capacity: 2 * expected), .start)
            }
            return state.position
        }
        let found = try rows(position)
        state.withLock { state in
            for row in found { state.partial?.insert(row.key) }
            if let last = found.last {
                state.position = last
            } else {
                state.complete = state.partial.take()
                state.room = expected
            }
        }
    }

    /// Stops filling, since the index cannot be read.
    func stopFilling() { state.withLock { ($0.partial, $0.room) = (nil, nil) } }
}

/// A set of keys with false positives, about one in 400 queries at full capacity, and without false negatives.
struct BloomFilter: Sendable {
    private static let bitsPerKey = 16
    private static let probes = 4

    private var words: [UInt64]

    init(capacity: Int) {
        var count = 1
        while count * UInt64.bitWidth < capacity * Self.bitsPerKey { count *= 2 }
        words = Array(repeating: 0, count: count)
    }

    mutating func insert(_ key: EntryKey) {
        for bit in bits(of: key) { words[bit / UInt64.bitWidth] |= 1 << (bit % UInt64.bitWidth) }
    }

    func mayContain(_ key: EntryKey) -> Bool {
        bits(of: key).allSatisfy { words[$0 / UInt64.bitWidth] & 1 << ($0 % UInt64.bitWidth) != 0 }
    }

    /// Keys are digests, so parts of them serve as hash values.
    private func bits(of key: EntryKey) -> some Sequence<Int> {
        let (start, step) = (key.entry.leadingWord, (key.source.leadingWord ^ key.entry.trailingWord) | 1)
        let mask = UInt64(words.count * UInt64.bitWidth - 1)
        return (0..<UInt64(Self.probes)).lazy.map { Int((start &+ $0 &* step) & mask) }
    }
}
