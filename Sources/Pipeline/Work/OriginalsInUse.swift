import NIOCore
import Store
import Synchronization

/// The bytes of a source while somebody works with them.
final class Original: Sendable {
    let body: ByteBuffer
    let record: OriginalRecord
    /// Where it was found; nil = downloaded.
    let layer: CacheReport.Layer?

    init(body: ByteBuffer, record: OriginalRecord, layer: CacheReport.Layer?) {
        self.body = body
        self.record = record
        self.layer = layer
    }
}

/// Originals that productions hold at this moment.
///
/// A downloaded original enters the caches only after it has been decoded. Until then a second variant finds it here, so
/// that two widths of one cold source cost one download.
final class OriginalsInUse: Sendable {
    private struct Reference {
        weak var original: Original?
    }

    private let table = Mutex<[StoreKey: Reference]>([:])

    subscript(source: StoreKey) -> Original? {
        table.withLock { $0[source]?.original }
    }

    /// Remembers it for as long as anybody else holds it.
    func note(_ original: Original, for source: StoreKey) {
        table.withLock { table in
            if table.count >= Self.sweepCount { table = table.filter { $0.value.original != nil } }
            table[source] = Reference(original: original)
        }
    }

    private static let sweepCount = 256
}
