import DarkroomHTTPCaching
package import DarkroomMachine
import DarkroomNetwork
package import DarkroomOrigin
public import DarkroomRequests
import DarkroomStore
public import Foundation
import HTTPTypes
public import NIOCore

extension SourceData {
    /// Bytes that the caller holds.
    public convenience init(_ bytes: ByteBuffer) {
        self.init(SharedBytes(bytes))
    }

    /// Bytes that the caller holds.
    public convenience init(_ bytes: Data) {
        self.init(ByteBuffer(bytes: bytes))
    }

    /// - Parameter reservation: counts the bytes as in flight; nil = they are not counted.
    package convenience init(_ content: SharedBytes, reservation: ByteReservation? = nil) {
        self.init(content, address: SourceURL(uploadOf: StoreKey(of: content).hex), hold: reservation)
    }

    /// The purge tag of everything that is stored of such sources.
    package static let purgeTag = "upload"

    /// The bytes as the response of an origin. Variants of equal bytes never become outdated.
    func response(at now: Date) -> OriginResponse {
        let fields: HTTPFields = [
            .cacheControl: "public, max-age=31536000, immutable", .known("Cache-Tag"): Self.purgeTag,
        ]
        var response = OriginResponse(
            url: address, status: .ok, headers: fields, body: ByteBuffer(), requestedAt: now, receivedAt: now)
        response.content = content
        response.reservation = hold as? ByteReservation
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
