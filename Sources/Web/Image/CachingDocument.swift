import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomRequests
import Foundation
import HTTPTypes
import NIOCore

/// The member `cache` that `fields=cache` adds to `/info`: the origin's caching fields, the freshness of the source,
/// and the tiers that hold it. It describes the moment of the response, so it is never cached.
struct CachingDocument: Encodable, Hashable {
    /// The cache tiers that hold an entry.
    struct Location: Encodable, Hashable {
        let memory: Bool
        let disk: Bool
        /// Nil if the entry is not in a tier that several servers share.
        let shared: Bool?

        init(_ tiers: TierSet) {
            memory = tiers.contains(.memory)
            disk = tiers.contains(.disk)
            shared = tiers.contains(.shared) ? true : nil
        }
    }

    /// The origin's caching and validation fields by lower-case name.
    let origin: [String: String]
    let fresh: Bool
    /// Whole seconds, rounded down.
    let ageSeconds: Int
    /// Whole seconds, rounded down; negative when stale.
    let remainingSeconds: Int
    let original: Location
    /// The document itself, without this member.
    let variant: Location

    init(_ document: ImageResponse, _ location: CacheLocation) {
        let fields = document.originFields.filter { ![.contentType, .retryAfter].contains($0.name) }
        origin = Dictionary(
            fields.map { ($0.name.canonicalName, $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
        fresh = document.remaining > .zero
        ageSeconds = document.age.wholeSeconds
        remainingSeconds = document.remaining.wholeSeconds
        original = Location(location.original)
        variant = Location(location.variant)
    }

    /// The document with this as its last member, `cache`. Its other bytes are unchanged.
    func added(to document: ByteBuffer) -> ByteBuffer {
        guard var result = document.getSlice(at: document.readerIndex, length: document.readableBytes - 1) else {
            return document
        }
        result.writeString(#","cache":"#)
        result.writeImmutableBuffer(.json(self))
        result.writeString("}")
        return result
    }
}
