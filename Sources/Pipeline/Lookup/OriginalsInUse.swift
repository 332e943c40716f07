import DarkroomMachine
import DarkroomOrigin
import DarkroomStore
import Synchronization

/// The bytes of a source while work uses them.
final class Original: Sendable {
    let body: SharedBytes
    let record: SourceRecord
    /// The tier that it was found in; nil if it was downloaded.
    let tier: CacheReport.Tier?
    /// Whether it may be stored for later requests.
    let mayBeStored: Bool
    /// Whether the caches knew other content of the source.
    let replacesKnown: Bool
    /// Keeps downloaded bytes within the in-flight byte budget while this object lives; nil if they are not counted.
    private let hold: ByteReservation?
    private let state = Mutex(State())

    private struct State {
        var bytesClaimed = TierSet()
        var recordClaimed = TierSet()
        var isStored = false
    }

    init(
        body: SharedBytes, record: SourceRecord, tier: CacheReport.Tier?, mayBeStored: Bool = true,
        replacesKnown: Bool = false, hold: ByteReservation? = nil
    ) {
        self.body = body
        self.record = record
        self.tier = tier
        self.mayBeStored = mayBeStored
        self.replacesKnown = replacesKnown
        self.hold = hold
    }

    /// The original without its share of the in-flight byte budget, for work that waits for another download.
    var released: Original {
        hold == nil ? self : Original(body: body, record: record, tier: tier ?? .memory, mayBeStored: mayBeStored)
    }

    /// Whether the caches have the bytes, so that other requests find them there.
    var isStored: Bool { state.withLock(\.isStored) }

    func markStored() { state.withLock { $0.isStored = true } }

    /// Returns the tiers among these that no one has stored the bytes in yet, and claims them: several productions may
    /// share an original, and one of them stores it.
    func claimBytes(_ tiers: TierSet) -> TierSet {
        state.withLock { state in
            defer { state.bytesClaimed.formUnion(tiers) }
            return tiers.subtracting(state.bytesClaimed)
        }
    }

    /// Returns the tiers among these that no one has stored the record in yet, and claims them.
    func claimRecord(_ tiers: TierSet) -> TierSet {
        state.withLock { state in
            defer { state.recordClaimed.formUnion(tiers) }
            return tiers.subtracting(state.recordClaimed)
        }
    }
}

/// The originals that productions use at the moment, or that are being written to disk.
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

    /// Adds an original for as long as anything else holds it.
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

    func removeAll() {
        table.withLock { $0 = [:] }
    }
}
