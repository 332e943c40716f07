package import DarkroomMachine
import DarkroomRequests
import DarkroomStore
import NIOCore
import Synchronization

/// The bytes of a source while work uses them.
package final class Original: Sendable {
    package let body: SharedBytes
    package let record: SourceRecord
    /// The tier that it was found in; nil if it was downloaded.
    package let tier: CacheTier?
    /// Whether it may be stored for later requests.
    package let mayBeStored: Bool
    /// Whether the caches knew other content of the source.
    package let replacesKnown: Bool
    /// Keeps downloaded bytes within the in-flight byte budget while this object lives; nil if they are not counted.
    package let hold: (any Sendable)?
    private let state = Mutex(State())

    /// The largest original kept in memory. Larger originals would evict too many variants.
    package static let maxMemoryBytes = 1 << 20

    private struct State {
        var bytesClaimed = TierSet()
        var recordClaimed = TierSet()
        var isStored = false
    }

    package init(
        body: SharedBytes, record: SourceRecord, tier: CacheTier?, mayBeStored: Bool = true,
        replacesKnown: Bool = false, hold: (any Sendable)? = nil
    ) {
        self.body = body
        self.record = record
        self.tier = tier
        self.mayBeStored = mayBeStored
        self.replacesKnown = replacesKnown
        self.hold = hold
    }

    /// The entry, whose metadata is the hash of the bytes.
    var entry: StoredEntry {
        let content = record.content
        return StoredEntry(content: body, metadata: ByteBuffer(bytes: content.bytes), bodyDigest: content)
    }

    /// The original without its share of the in-flight byte budget, for work that waits for another download.
    package var released: Original {
        hold == nil ? self : Original(body: body, record: record, tier: tier ?? .memory, mayBeStored: mayBeStored)
    }

    /// Whether the caches have the bytes, so that other requests find them there.
    package var isStored: Bool { state.withLock(\.isStored) }

    func markStored() { state.withLock { $0.isStored = true } }

    /// Returns the tiers among these that do not store the bytes yet, and claims them: several requests may share an
    /// original, and one of them stores it.
    func claimBytes(_ tiers: TierSet) -> TierSet {
        state.withLock { state in
            defer { state.bytesClaimed.formUnion(tiers) }
            return tiers.subtracting(state.bytesClaimed)
        }
    }

    /// Returns the tiers among these that do not store the record yet, and claims them.
    func claimRecord(_ tiers: TierSet) -> TierSet {
        state.withLock { state in
            defer { state.recordClaimed.formUnion(tiers) }
            return tiers.subtracting(state.recordClaimed)
        }
    }
}

extension StoredEntry {
    /// The hash of an original's bytes, from its entry.
    var originalContent: StoreKey? { StoreKey(digest: metadata.readableBytesView) }
}

/// The originals that are being processed, or that are being written to disk.
///
/// A downloaded original is stored only after it has been decoded. Until then other variants find it here, so that two
/// widths of an uncached source cost one download.
final class OriginalsInUse: Sendable {
    private struct Reference {
        weak var original: Original?
    }

    private static let sweepCount = 256

    private let table = Mutex<[StoreKey: Reference]>([:])

    subscript(source: StoreKey) -> Original? {
        table.withLock { $0[source]?.original }.flatMap { $0.isStored ? nil : $0 }
    }

    /// Adds an original, which stays here while another reference to it exists.
    func insert(_ original: Original, for source: StoreKey) {
        table.withLock { table in
            if table.count >= Self.sweepCount { table = table.filter { $0.value.original != nil } }
            table[source] = Reference(original: original)
        }
    }

    func remove(_ sources: [StoreKey]) {
        table.withLock { table in
            for source in sources { table[source] = nil }
        }
    }

    /// Removes the originals whose record fulfills the condition.
    func removeAll(where isMeant: (SourceRecord) -> Bool) {
        table.withLock { table in
            table = table.filter { $0.value.original.map { !isMeant($0.record) } ?? false }
        }
    }
}
