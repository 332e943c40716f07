import DarkroomOrigin
import DarkroomStore
import NIOCore
import Synchronization

/// The bytes of a source while somebody works with them.
final class Original: Sendable {
    let body: ByteBuffer
    let record: SourceRecord
    /// Where it was found; nil = downloaded.
    let layer: CacheReport.Layer?
    /// Whether it may be kept for later requests.
    let mayBeStored: Bool
    /// Whether the caches knew other content of the source.
    let replacesKnown: Bool
    /// Keeps downloaded bytes counted as long as this lives; nil = they are not.
    private let hold: ByteReservation?
    private let stored = Mutex((bytes: TierSet(), record: TierSet()))
    private let settled = Mutex(false)

    init(
        body: ByteBuffer, record: SourceRecord, layer: CacheReport.Layer?, mayBeStored: Bool = true,
        replacesKnown: Bool = false, hold: ByteReservation? = nil
    ) {
        self.body = body
        self.record = record
        self.layer = layer
        self.mayBeStored = mayBeStored
        self.replacesKnown = replacesKnown
        self.hold = hold
    }

    /// Whether the caches have it, so that nobody needs to hold it for others.
    var isSettled: Bool { settled.withLock { $0 } }

    func settle() { settled.withLock { $0 = true } }

    /// The tiers among these that nobody has stored the bytes in: several productions hold one original, and one stores it.
    func claimBytes(_ tiers: TierSet) -> TierSet {
        stored.withLock { stored in
            defer { stored.bytes.formUnion(tiers) }
            return tiers.subtracting(stored.bytes)
        }
    }

    /// The same for the record.
    func claimRecord(_ tiers: TierSet) -> TierSet {
        stored.withLock { stored in
            defer { stored.record.formUnion(tiers) }
            return tiers.subtracting(stored.record)
        }
    }
}

/// Originals that productions hold at this moment, and those that are being written.
///
/// A downloaded original enters the caches only after it has been decoded. Until it is there a second variant finds it here,
/// so that two widths of one cold source cost one download.
final class OriginalsInUse: Sendable {
    private struct Reference {
        weak var original: Original?
    }

    private let table = Mutex<[StoreKey: Reference]>([:])

    subscript(source: StoreKey) -> Original? {
        table.withLock { $0[source]?.original }.flatMap { $0.isSettled ? nil : $0 }
    }

    /// Remembers it for as long as anybody else holds it.
    func note(_ original: Original, for source: StoreKey) {
        table.withLock { table in
            if table.count >= Self.sweepCount { table = table.filter { $0.value.original != nil } }
            table[source] = Reference(original: original)
        }
    }

    func forget(_ sources: [StoreKey]) {
        table.withLock { table in
            for source in sources { table[source] = nil }
        }
    }

    /// Nobody who comes from now on shares what is under way.
    func forgetEverything() {
        table.withLock { $0 = [:] }
    }

    private static let sweepCount = 256
}
