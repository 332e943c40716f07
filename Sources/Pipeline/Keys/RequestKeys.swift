import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import NIOCore

/// The three names of a request, each made of the one before. Equality of keys *is* the rule for sharing work.
struct RequestKeys: Hashable, Sendable {
    /// Which source it is, after the filter.
    let source: StoreKey
    /// The entry of the finished picture.
    let variant: EntryKey

    /// The entry of the source's bytes.
    var original: EntryKey { Self.original(of: source) }

    /// The entry of what is known about the source; without it, nothing of the source is used.
    var record: EntryKey { Self.record(of: source) }

    static func original(of source: StoreKey) -> EntryKey { entry("original", of: source) }

    static func record(of source: StoreKey) -> EntryKey { entry("record", of: source) }

    private static func entry(_ kind: String, of source: StoreKey) -> EntryKey {
        var parts = KeyParts(kind)
        parts.append(source)
        return EntryKey(source: source, entry: parts.key)
    }

    /// - Parameter epoch: names the encoders; variants of other encoders are other variants.
    init(_ request: ImageRequest, chain: TransformChain, identity: String, epoch: String) {
        source = Self.source(identity)

        var parts = KeyParts("variant")
        parts.append(source)
        parts.append(request.pages, in: request.output)
        parts.append(request.output.key)
        parts.append(epoch)
        parts.append(chain.key)
        variant = EntryKey(source: source, entry: parts.key)
    }

    /// The key of a source that the filter names like this.
    static func source(_ identity: String) -> StoreKey {
        var name = KeyParts("source")
        name.append(identity)
        return name.key
    }
}

/// Collects what a key is made of: each part with its length in front, so that no two lists of parts are the same bytes.
private struct KeyParts {
    private var bytes: [UInt8] = []

    /// - Parameter kind: keeps keys of different kinds apart.
    init(_ kind: String) {
        bytes.reserveCapacity(512)
        append(kind)
    }

    var key: StoreKey { StoreKey(hashing: bytes) }

    mutating func append(_ part: String) {
        append(count: part.utf8.count)
        bytes.append(contentsOf: part.utf8)
    }

    /// Always of one length.
    mutating func append(_ key: StoreKey) {
        bytes.append(contentsOf: key.bytes)
    }

    /// Where the output holds one frame only, how many were asked for changes nothing.
    mutating func append(_ pages: PageSelection, in output: OutputOptions) {
        let several = output.format.map(\.supportsMultipleFrames) ?? true
        append(count: pages.first)
        append(count: several ? pages.count ?? 0 : 1)
    }

    private mutating func append(count: Int) {
        withUnsafeBytes(of: UInt64(count).bigEndian) { bytes.append(contentsOf: $0) }
    }
}
