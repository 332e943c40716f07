import DarkroomStore
import NIOCore

/// How far a server has carried out the purges in the log, kept on disk with the entries that they concern. Each purge
/// is thus carried out once on each disk: it would otherwise remove what was stored after it.
struct PurgeProgress: Hashable, Sendable {
    /// The entry on disk that holds the progress. No source has its key.
    static let key: EntryKey = {
        let key = StoreKey(hashing: "position in the purge log".utf8)
        return EntryKey(source: key, entry: key)
    }()
    /// The most purges that are kept by name, the latest; an index row holds them. Older ones may be carried out again.
    private static let maxNames = 1_900

    /// The time until which the log was read, in milliseconds since 1970. All purges were carried out that are older
    /// than this time less ``PurgeFollower/overlap``.
    var position: Int64
    /// The later purges that were carried out.
    var done: Set<PurgeLog.Name> = []
    /// See ``UnconfirmedRecords/distrustedUntil``.
    var distrustedUntil = Int64.min

    init(position: Int64) {
        self.position = position
    }

    /// Whether a purge has not been carried out.
    func lacks(_ name: PurgeLog.Name) -> Bool {
        name.time >= position - PurgeFollower.overlap && !done.contains(name)
    }

    /// Decodes a progress; nil if the bytes are malformed.
    init?(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard let position = bytes.readInteger(as: Int64.self), let distrustedUntil = bytes.readInteger(as: Int64.self)
        else { return nil }
        self.init(position: position)
        self.distrustedUntil = distrustedUntil
        while let name = PurgeLog.Name(readingFrom: &bytes) { done.insert(name) }
    }

    var bytes: ByteBuffer {
        var bytes = ByteBuffer(integer: position)
        bytes.writeInteger(distrustedUntil)
        for name in done.sorted().suffix(Self.maxNames) { name.write(to: &bytes) }
        return bytes
    }
}
