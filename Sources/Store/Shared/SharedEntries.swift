import DarkroomEviction
package import DarkroomMachine
package import NIOCore
import Synchronization

/// How the shared tier is used.
package struct SharedStoreConfiguration: Sendable {
    /// The timeout of one lookup, after which the server continues as if the lookup had found nothing. Default: 1 s.
    package var timeout = Duration.seconds(1)
    /// The time for each write, retries included. Default: 15 s.
    package var writeTimeout = Duration.seconds(15)
    /// Whether originals are stored too. Default: true.
    package var storesOriginals = true
    /// The age from which objects count as missing, and for which purges are kept. Default: 30 days.
    package var maxAge = Duration.seconds(30 * 86_400)
    /// The time between two reads of the purge log. Default: 5 s.
    package var purgeInterval = Duration.seconds(5)
    /// The largest body that is stored and read, in bytes. Default: 32 MiB.
    package var maxBodyBytes = 32 << 20
    /// The most bytes that wait to be written. Default: 64 MiB.
    package var maxQueuedBytes = 64 << 20

    /// The defaults.
    package init() {}
}

/// A source's record in the shared tier.
package struct SharedRecord: Hashable, Sendable {
    /// Orders the records of a source across servers: a constant after the store's time in milliseconds when the origin
    /// was asked, or more if the writer knew a later record or purge.
    package var order: Int64
    /// The record, opaque to the store.
    package var metadata: ByteBuffer

    package init(order: Int64, metadata: ByteBuffer) {
        self.order = order
        self.metadata = metadata
    }

    var version: RecordVersion {
        RecordVersion(order: order, digest: StoreKey(hashing: metadata.readableBytesView).leadingWord)
    }
}

/// The result of a lookup in the shared tier.
package struct SharedFindings: Sendable {
    /// A variant, and the record that it was stored with.
    package struct Variant: Sendable {
        package let entry: StoredEntry
        /// The record, which newer records may have replaced.
        package let record: SharedRecord

        init(_ object: SharedObject) {
            entry = StoredEntry(
                content: object.body, metadata: object.head.metadata, bodyDigest: object.head.bodyDigest)
            record = object.head.record
        }
    }

    /// The newest record, or a usable one; nil if there is none, or if the known record is as new.
    package var record: SharedRecord?
    /// The variant, whatever its record.
    package var variant: Variant?
}

/// Objects of one source to write.
package struct SharedWrite: Sendable {
    package var source: StoreKey
    /// The source's record, opaque to the store.
    package var record: ByteBuffer
    package var variant: (key: EntryKey, entry: StoredEntry)?
    /// The original and the hash of its bytes.
    package var original: (content: StoreKey, body: SharedBytes)?

    /// A write of the record alone.
    package init(of source: StoreKey, record: ByteBuffer) {
        self.source = source
        self.record = record
    }

    var bytes: Int {
        record.readableBytes + (variant?.entry.content.count ?? 0) + (original?.body.count ?? 0)
    }
}

/// The newest record or removal of each source that this server has read from the store or written to it, as far as it
/// remembers.
final class KnownRecords: Sendable {
    private static let budgetBytes = 4 << 20
    private static let costBytes = 128

    private let table = Mutex(SieveTable<StoreKey, RecordVersion>(budgetBytes: budgetBytes))

    /// Whether this version, or a later one, is in the store.
    func outdates(_ version: RecordVersion, of source: StoreKey) -> Bool {
        guard let known = table.withLock({ $0.value(for: source) }) else { return false }
        return known == version || known.order > version.order
    }

    /// Whether a version after this order is in the store.
    func isNewer(than order: Int64, _ source: StoreKey) -> Bool {
        (table.withLock { $0.value(for: source) }?.order ?? -1) > order
    }

    /// - Returns: the older version that this version replaces; nil if there is none.
    @discardableResult
    func insert(_ version: RecordVersion, of source: StoreKey) -> RecordVersion? {
        table.withLock { table in
            let known = table.value(for: source)
            if let known, known == version || known.order > version.order { return nil }
            _ = table.insert(version, cost: Self.costBytes, for: source)
            return known
        }
    }

    /// The order of the newest record; nil if none is known.
    func order(of source: StoreKey) -> Int64? { table.withLock { $0.peek(source)?.order } }

    /// Forgets the record if it is not later than this order.
    func remove(_ source: StoreKey, upTo order: Int64) {
        table.withLock { table in
            if let known = table.peek(source), known.order <= order { _ = table.remove(for: source) }
        }
    }
}
