import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import NIOCore

/// The keys of a request, each derived from the one before. Requests share work if and only if their keys are equal.
struct RequestKeys: Hashable, Sendable {
    /// The source, as the ``CacheKeyFilter`` identifies it.
    let source: StoreKey
    /// The entry of the finished image.
    let variant: EntryKey

    /// The entry of the source's bytes.
    var original: EntryKey { Self.original(of: source) }

    /// The entry of the source's record. Without a record, no other entry of the source is used.
    var record: EntryKey { Self.record(of: source) }

    static func original(of source: StoreKey) -> EntryKey { entry("original", of: source) }

    static func record(of source: StoreKey) -> EntryKey { entry("record", of: source) }

    private static func entry(_ kind: String, of source: StoreKey) -> EntryKey {
        var parts = KeyParts(kind)
        parts.append(source)
        return EntryKey(source: source, entry: parts.key)
    }

    /// - Parameters:
    ///   - identity: the source's identity, as the filter returns it.
    ///   - epoch: the encoders' version, since another encoder makes other bytes.
    init(_ request: ImageRequest, chain: TransformChain, identity: String, epoch: String) {
        source = Self.source(identity)

        var parts = KeyParts("variant")
        parts.append(source)
        parts.append(request.pages, in: request.output)
        parts.append(request.output.key)
        parts.append(epoch)
        parts.append(chain.key)
        parts.append(request.versions)
        variant = EntryKey(source: source, entry: parts.key)
    }

    /// The key of the source with this identity.
    static func source(_ identity: String) -> StoreKey {
        var name = KeyParts("source")
        name.append(identity)
        return name.key
    }
}

/// Collects the parts of a key, each prefixed with its length, so that different parts never make the same bytes.
private struct KeyParts {
    private var bytes: [UInt8] = []

    /// - Parameter kind: separates keys of different kinds.
    init(_ kind: String) {
        bytes.reserveCapacity(512)
        append(kind)
    }

    var key: StoreKey { StoreKey(hashing: bytes) }

    mutating func append(_ part: String) {
        append(count: part.utf8.count)
        bytes.append(contentsOf: part.utf8)
    }

    /// Appends a key, which needs no prefix because its length is fixed.
    mutating func append(_ key: StoreKey) {
        bytes.append(contentsOf: key.bytes)
    }

    /// Appends texts at their places; none, and none at any place, are the same.
    mutating func append(_ texts: [String?]) {
        guard texts.contains(where: { $0 != nil }) else { return }
        for text in texts { append(text.map { "=\($0)" } ?? "") }
    }

    /// Appends the page selection. The number of pages does not matter if the output holds only one frame.
    mutating func append(_ pages: PageSelection, in output: OutputOptions) {
        append(count: pages.first)
        append(count: output.mayHoldSeveralFrames ? pages.count ?? 0 : 1)
    }

    private mutating func append(count: Int) {
        withUnsafeBytes(of: Int64(count).bigEndian) { bytes.append(contentsOf: $0) }
    }
}
