import DarkroomCache
import DarkroomHTTPCaching
package import DarkroomMachine
import DarkroomNetwork
package import DarkroomOrigin
import DarkroomStore
public import Foundation
import HTTPTypes
public import NIOCore

/// The bytes of a source that came with the request, instead of from an origin.
///
/// A class, because requests are copied often and few of them have bytes.
public final class SourceData: Sendable {
    let content: SharedBytes
    /// The name of the source, made from the hash of its bytes: equal bytes are the same source.
    let address: SourceURL
    /// Counts the bytes among those in flight; nil = they are not counted.
    private let reservation: ByteReservation?

    /// Bytes that the caller holds.
    public convenience init(_ bytes: ByteBuffer) {
        self.init(SharedBytes(bytes))
    }

    /// Bytes that the caller holds.
    public convenience init(_ bytes: Data) {
        self.init(ByteBuffer(bytes: bytes))
    }

    /// - Parameter reservation: counts the bytes among those in flight; nil = they are not counted.
    package init(_ content: SharedBytes, reservation: ByteReservation? = nil) {
        self.content = content
        self.reservation = reservation
        address = SourceURL(uploadOf: StoreKey(of: content).hex)
    }

    /// The number of bytes.
    public var count: Int { content.count }

    /// The purge tag of everything that is stored of such sources.
    package static let purgeTag = "upload"
}

extension SourceData {
    /// The bytes as the response of an origin. Variants of equal bytes never become outdated.
    func response(at now: Date) -> OriginResponse {
        let fields: HTTPFields = [
            .cacheControl: "public, max-age=31536000, immutable", .known("Cache-Tag"): Self.purgeTag,
        ]
        var response = OriginResponse(
            url: address, status: .ok, headers: fields, body: ByteBuffer(), requestedAt: now, receivedAt: now)
        response.content = content
        response.reservation = reservation
        return response
    }
}

extension CacheOptions {
    /// The options of a request with ``SourceData``: the bytes are not stored, and entries that could not have been
    /// stored are not looked up.
    var ofData: CacheOptions {
        var options = self
        options.store.originals = []
        if options.store.variants.isEmpty { options.query = .none }
        return options
    }

    /// The options for the other sources of such a request, which are downloaded and cached as usual.
    var besideData: CacheOptions {
        var options = self
        if policy.allowsStoring { (options.query, options.store) = (.all, .all) }
        return options
    }
}

extension CacheReport {
    /// The report of a variant that was made from ``SourceData``, without an origin.
    func ofData(_ options: CacheOptions) -> CacheReport {
        guard variant == nil else { return self }
        var report = self
        report.isUpload = true
        report.forwarded = options.store.variants.isEmpty ? .bypass : .miss
        report.originStatus = nil
        return report
    }
}
