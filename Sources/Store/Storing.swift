public import NIOCore

/// What a store keeps under one key: bytes, and what its owner wants to know about them.
public struct StoredEntry: Sendable {
    /// How many labels an entry may have: 160.
    public static let maximumLabels = 160
    /// How long a label may be: 8 KiB of UTF-8.
    public static let maximumLabelBytes = 8 << 10

    /// The image's encoded bytes.
    public var body: ByteBuffer
    /// The owner's notes, opaque to the store.
    public var metadata: ByteBuffer
    /// Words by which the entry's source is found again, such as `host:example.com`. At most ``maximumLabels`` of at
    /// most ``maximumLabelBytes`` each: an entry with more is not stored. Compared byte by byte, in UTF-8.
    public var labels: [String]
    /// The body's SHA-256, if its owner knows it: the store then need not work it out. It has to be right, or the entry will
    /// count as damaged.
    public var bodyDigest: StoreKey?

    /// An entry of these bytes.
    public init(
        body: ByteBuffer, metadata: ByteBuffer = ByteBuffer(), labels: [String] = [], bodyDigest: StoreKey? = nil
    ) {
        self.body = body
        self.metadata = metadata
        self.labels = labels
        self.bodyDigest = bodyDigest
    }
}

extension StoredEntry: Equatable {
    /// By what is kept; the digest only repeats what the body says.
    public static func == (left: StoredEntry, right: StoredEntry) -> Bool {
        left.body == right.body && left.metadata == right.metadata && left.labels == right.labels
    }
}

/// Which sources are meant, by the labels of their entries.
public enum LabelFilter: Hashable, Sendable {
    /// Those with exactly this label.
    case equal(String)
    /// Those with a label that begins with this.
    case prefix(String)
    /// Every source, also those without labels.
    case all
}

/// How many entries, and the size of their files.
public struct StoreTotals: Equatable, Sendable {
    /// The number of entries.
    public var entries = 0
    /// The size of their files, in bytes.
    public var bytes = 0

    /// So many entries of so many bytes.
    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}

/// What is known of an entry without reading it.
public struct EntrySummary: Equatable, Sendable {
    public var key: EntryKey
    /// What the entry takes.
    public var bytes: Int
    /// How long ago it was stored.
    public var age: Duration
    /// How often it was found since then; nil = that is not counted.
    public var hits: Int?
    /// The owner's notes; nil = they would have to be read.
    public var metadata: ByteBuffer?

    public init(key: EntryKey, bytes: Int, age: Duration, hits: Int? = nil, metadata: ByteBuffer? = nil) {
        self.key = key
        self.bytes = bytes
        self.age = age
        self.hits = hits
        self.metadata = metadata
    }
}

/// Where entries live longer than the process: what the pipeline sees of its disk tier.
///
/// A store may forget anything at any time. What it returns is byte for byte what was stored last under that key,
/// or something stored there before it, but never what was removed.
///
/// Removals, and what asks for sources, come after the writes that were queued before them and before those queued
/// later.
public protocol Storing: Sendable {
    /// The entry under this key, or nil if there is none, if it is past its age, or if it can't be read undamaged.
    func entry(for key: EntryKey) async -> StoredEntry?

    /// Takes the entry to be kept under this key, in place of one that is there. Returns at once: the write happens
    /// later, or not at all under pressure.
    /// - Returns: false if the entry was refused: it has too much in it, the queue is full, or writing fails now.
    @discardableResult
    func store(_ entry: StoredEntry, for key: EntryKey) -> Bool

    /// Takes the entry like ``store(_:for:)``, and waits.
    /// - Returns: whether it is kept now, so that ``entry(for:)`` finds it.
    func storeAndWait(_ entry: StoredEntry, for key: EntryKey) async -> Bool

    /// Removes the entry under this key, also one whose write is still to come. Gone once this returns.
    func remove(_ key: EntryKey) async

    /// Removes all entries of these sources, also those whose writes are still to come. Gone once this returns.
    /// - Returns: what was removed.
    @discardableResult
    func removeAll(ofSources sources: [StoreKey]) async -> StoreTotals

    /// Removes every entry, also those whose writes are still to come. Gone once this returns.
    /// - Returns: what was removed.
    @discardableResult
    func removeEverything() async -> StoreTotals

    /// Removes what is past its age. Without an age, nothing is.
    /// - Returns: what was removed.
    @discardableResult
    func removeExpired() async -> StoreTotals

    /// The sources that have an entry with such a label, each once, in no order.
    func sources(matching query: LabelFilter) async -> [StoreKey]

    /// What there is of each of these sources; sources without entries are left out.
    func totals(ofSources sources: [StoreKey]) async -> [StoreKey: StoreTotals]

    /// The entry under this key as ``entry(for:)`` finds it, without a sign that anyone asked for it. By default that is what
    /// it finds.
    func peek(_ key: EntryKey) async -> StoredEntry?

    /// What there is of a source: the first `count` entries in the order of their keys. By default nothing is told.
    func summaries(ofSource source: StoreKey, limit count: Int) async -> [EntrySummary]
}

extension Storing {
    public func peek(_ key: EntryKey) async -> StoredEntry? { await entry(for: key) }
    public func summaries(ofSource source: StoreKey, limit count: Int) async -> [EntrySummary] { [] }
}
