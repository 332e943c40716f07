import DarkroomCache
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import Foundation
import HTTPTypes
import NIOCore

/// The encoded heads of the answers with one image, 200 and 304. Most fields are encoded once for each content of the
/// image, the other fields once for each second.
struct ImageHeads {
    struct Head {
        let bytes: ByteBuffer
        let cacheStatus: String
        let details: AccessLogDetails
    }

    /// The whole seconds that the passing fields depend on.
    struct Moment: Equatable {
        let now: Int
        let age: Int
        let remaining: Int
        /// Until the URL expires.
        let validity: Duration?

        init(_ image: ImageResponse, validity: Duration?, now: Date) {
            self.now = Int(now.timeIntervalSince1970.rounded(.down))
            age = image.age.wholeSeconds
            remaining = image.remaining.wholeSeconds
            self.validity = validity
        }
    }

    /// What the lasting fields and the details depend on, besides the request's target.
    private struct Basis: Equatable {
        let digest: String
        let sourceBytes: Int
        let tier: CacheReport.Tier?
        /// A stale image is no hit to the log.
        let isStale: Bool
        let lastModified: Date?
        let cachePolicy: ClientCachePolicy
        let placeholders: Placeholders?
        /// Where the tags come from; nil if the response has none.
        let tags: TagBasis?

        init(_ image: ImageResponse, isTagged: Bool) {
            digest = image.digest
            sourceBytes = image.sourceBytes
            tier = image.cache.variant
            isStale = image.remaining < .zero
            lastModified = image.lastModified
            cachePolicy = image.cachePolicy
            placeholders = image.placeholders
            tags = isTagged ? TagBasis(image) : nil
        }
    }

    /// The records whose origins' tags a response has. A record is never changed, but replaced.
    private struct TagBasis: Equatable {
        private let records: [SourceRecord]

        init(_ image: ImageResponse) { records = [image.record].compactMap(\.self) + image.partRecords }

        static func == (left: TagBasis, right: TagBasis) -> Bool {
            left.records.elementsEqual(right.records) { $0 === $1 }
        }
    }

    private struct Encoded {
        let basis: Basis
        let lasting: ByteBuffer
        let moment: Moment
        let head: Head
    }

    private var full: Encoded?
    private var notModified: Encoded?

    /// The head of the answer at this moment. `details` and `response` are evaluated when there is something to encode.
    mutating func head(
        of image: ImageResponse, isTagged: Bool, notModified isNotModified: Bool, at moment: Moment,
        _ sharing: ReplySharing, details: @autoclosure () -> AccessLogDetails,
        _ response: @autoclosure () -> ImageHTTPResponse
    ) -> Head {
        let basis = Basis(image, isTagged: isTagged)
        let known = isNotModified ? notModified : full
        if let known, known.basis == basis, known.moment == moment { return known.head }
        let current = known?.basis == basis ? known : nil
        let response = response()
        let lasting = current?.lasting ?? response.lastingHead(notModified: isNotModified, sharing)
        var bytes = lasting
        let fields = response.passingFields
        bytes.write(fields)
        let head = Head(
            bytes: bytes, cacheStatus: fields[.cacheStatus] ?? "", details: current?.head.details ?? details())
        let new = Encoded(basis: basis, lasting: lasting, moment: moment, head: head)
        if isNotModified { notModified = new } else { full = new }
        return head
    }
}

extension ImageHTTPResponse {
    /// The fields that last, as they are sent.
    fileprivate func lastingHead(notModified: Bool, _ sharing: ReplySharing) -> ByteBuffer {
        guard !notModified else { return .head(.notModified, lastingFields, sharing) }
        var fields = fullFields(lastingFields)
        fields[.contentLength] = String(body.readableBytes)
        return .head(.ok, fields, sharing)
    }
}
