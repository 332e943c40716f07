package import DarkroomMachine
public import NIOCore

/// An entry of a store: an original or a variant, with the owner's metadata.
public struct StoredEntry: Equatable, Sendable {
    /// The maximum number of labels of an entry: 160.
    public static let maximumLabels = 160
    /// The maximum length of a label: 8 KiB of UTF-8.
    public static let maximumLabelBytes = 8 << 10

    /// The encoded bytes of the image.
    public var body: ByteBuffer {
        get { content.buffer }
        set { content = SharedBytes(newValue) }
    }
    /// The same bytes. The bytes of an original may be in a memory file.
    package var content: SharedBytes
    /// The bytes, if a lookup has left them on disk; ``body`` is empty then.
    package var deferredBody: StoredBody?
    /// The owner's data about the body, opaque to the store.
    public var metadata: ByteBuffer
    /// Labels by which the source of the entry is found, such as `host:example.com`, compared as bytes of UTF-8. An
    /// entry with more than ``maximumLabels`` labels, or with one of more than ``maximumLabelBytes``, is not stored.
    public var labels: [String]
    /// The SHA-256 of the body, if the owner knows it; otherwise the store computes it. With a wrong digest the entry
    /// counts as corrupt.
    public var bodyDigest: StoreKey?
    /// Another entry of the same source, without a body, that is stored separately. The store may keep a copy of it
    /// with this entry, to restore it if the store's index is lost. Nil in the result of a lookup.
    public var companion: Companion?
    /// Whether a lookup returned a restored copy (see ``companion``), which may be older than the entry that was stored
    /// last.
    public var isRestored = false

    /// A copy of another entry of the same source, without a body.
    public struct Companion: Sendable {
        /// The key of the other entry.
        public var key: StoreKey
        /// The metadata of the other entry.
        public var metadata: ByteBuffer
        /// The labels of the other entry.
        public var labels: [String]

        /// A copy of this entry without its body.
        public init(_ entry: StoredEntry, for key: StoreKey) {
            self.key = key
            metadata = entry.metadata
            labels = entry.labels
        }
    }

    /// An entry with this body, and by default without metadata and labels.
    public init(
        body: ByteBuffer, metadata: ByteBuffer = ByteBuffer(), labels: [String] = [], bodyDigest: StoreKey? = nil
    ) {
        self.init(content: SharedBytes(body), metadata: metadata, labels: labels, bodyDigest: bodyDigest)
    }

    package init(
        content: SharedBytes, metadata: ByteBuffer = ByteBuffer(), labels: [String] = [], bodyDigest: StoreKey? = nil
    ) {
        self.content = content
        self.metadata = metadata
        self.labels = labels
        self.bodyDigest = bodyDigest
    }

    var hasBody: Bool { content.count > 0 || deferredBody != nil }

    /// Compares the stored values.
    public static func == (left: StoredEntry, right: StoredEntry) -> Bool {
        left.body == right.body && left.metadata == right.metadata && left.labels == right.labels
    }
}
