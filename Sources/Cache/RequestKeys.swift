package import DarkroomStore

/// The keys of a request, each derived from the previous key. Requests share work if and only if their keys are equal.
package struct RequestKeys: Hashable, Sendable {
    /// The entry of the finished image.
    package private(set) var variant: EntryKey
    /// The entry of the source's bytes. Derived with each use, since a hit has none.
    package var original: EntryKey { Self.original(of: source) }
    /// The entry of the source's record. Without a record, no other entry of the source is used.
    package let record: EntryKey

    /// The source, as the ``CacheKeyFilter`` identifies it.
    package var source: StoreKey { variant.source }

    /// - Parameters:
    ///   - source: see ``source(_:)``.
    ///   - variant: derived from everything that changes the bytes of the image.
    package init(source: StoreKey, variant: StoreKey) {
        self.variant = EntryKey(source: source, entry: variant)
        record = Self.record(of: source)
    }

    /// The keys of another image of the same source.
    package func with(variant: StoreKey) -> RequestKeys {
        var keys = self
        keys.variant = EntryKey(source: source, entry: variant)
        return keys
    }

    package static func source(_ identity: String) -> StoreKey {
        var name = KeyParts("source")
        name.append(identity)
        return name.key
    }

    package static func original(of source: StoreKey) -> EntryKey { entry("original", of: source) }

    package static func record(of source: StoreKey) -> EntryKey { entry("record", of: source) }

    private static func entry(_ kind: String, of source: StoreKey) -> EntryKey {
        var parts = KeyParts(kind)
        parts.append(source)
        return EntryKey(source: source, entry: parts.key)
    }
}

/// Collects the parts of a key, each prefixed with its length, so that different parts never make the same bytes.
package struct KeyParts {
    private var bytes: [UInt8] = []

    /// - Parameter kind: separates keys of different kinds.
    package init(_ kind: String) {
        bytes.reserveCapacity(512)
        append(kind)
    }

    package var key: StoreKey { StoreKey(hashing: bytes) }

    package mutating func append(_ part: String) {
        append(count: part.utf8.count)
        bytes.append(contentsOf: part.utf8)
    }

    /// Appends a key, which needs no prefix because its length is fixed.
    package mutating func append(_ key: StoreKey) {
        bytes.append(contentsOf: key.bytes)
    }

    /// Appends texts at their places. An empty list and a list of nils append the same bytes.
    package mutating func append(_ texts: [String?]) {
        guard texts.contains(where: { $0 != nil }) else { return }
        for text in texts { append(text.map { "=\($0)" } ?? "") }
    }

    package mutating func append(count: Int) {
        withUnsafeBytes(of: Int64(count).bigEndian) { bytes.append(contentsOf: $0) }
    }
}
