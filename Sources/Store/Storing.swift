public import NIOCore

/// What a store keeps under one key: bytes, and what its owner wants to know about them.
public struct StoredEntry: Equatable, Sendable {
    /// The image's encoded bytes.
    public var body: ByteBuffer
    /// The owner's notes, opaque to the store.
    public var metadata: ByteBuffer

    /// An entry of these bytes.
    public init(body: ByteBuffer, metadata: ByteBuffer = ByteBuffer()) {
        self.body = body
        self.metadata = metadata
    }
}

/// Where entries live longer than the process: what the pipeline sees of its disk tier.
///
/// A store may forget anything at any time. What it returns is byte for byte what was stored last under that key,
/// or something stored there before it.
public protocol Storing: Sendable {
    /// The entry under this key, or nil if there is none or it can't be read undamaged.
    func entry(for key: EntryKey) async -> StoredEntry?

    /// Takes the entry to be kept under this key, in place of one that is there. Returns at once: the write happens
    /// later, or not at all under pressure.
    func store(_ entry: StoredEntry, for key: EntryKey)

    /// Removes the entry under this key, also one whose write is still to come. Gone once this returns.
    func remove(_ key: EntryKey) async

    /// Removes all entries of a source, also those whose writes are still to come. Gone once this returns.
    func removeAll(ofSource source: StoreKey) async
}
