import DarkroomPipeline
import Foundation
import HTTPTypes
import NIOCore

/// What `fields=cache` tells: what the origin said about keeping a source, for how long it is fresh, and where it is cached. It is true
/// of one moment, so it is made anew for each answer.
struct CachingDocument: Encodable, Hashable {
    /// In which caches an entry is.
    struct Place: Encodable, Hashable {
        let memory: Bool
        let disk: Bool

        init(_ tiers: TierSet) {
            memory = tiers.contains(.memory)
            disk = tiers.contains(.disk)
        }
    }

    /// By their names in lower case.
    let origin: [String: String]
    let fresh: Bool
    /// Whole seconds, rounded down.
    let ageSeconds: Int
    /// Negative = for how long it has been stale.
    let remainingSeconds: Int
    let original: Place
    /// The document itself, without this.
    let variant: Place

    private enum CodingKeys: String, CodingKey {
        case origin, fresh, original, variant
        case ageSeconds = "age_seconds"
        case remainingSeconds = "remaining_seconds"
    }

    init(_ document: ImageResponse, _ location: CacheLocation) {
        let said = document.originFields.filter { ![.contentType, .retryAfter].contains($0.name) }
        origin = Dictionary(
            said.map { ($0.name.canonicalName, $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
        fresh = document.remaining > .zero
        ageSeconds = document.age.wholeSeconds
        remainingSeconds = document.remaining.wholeSeconds
        original = Place(location.original)
        variant = Place(location.variant)
    }

    /// The document with this as its last member, `cache`; its other bytes stay as they are.
    func added(to document: ByteBuffer) -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts, whole numbers and booleans: there is nothing that could fail to encode.
        guard let own = try? encoder.encode(self),
            let open = document.getSlice(at: document.readerIndex, length: document.readableBytes - 1)
        else { return document }
        var whole = open
        whole.writeString(#","cache":"#)
        whole.writeBytes(own)
        whole.writeString("}")
        return whole
    }
}
