import DarkroomCache
import DarkroomHTTPCaching
import DarkroomRequests
import DarkroomStore
import Foundation

/// The current knowledge of the image that a request draws onto its source.
///
/// A mark is a source like any other, with a record, an original and one variant, its color. That variant is never
/// sent: it proves that the mark decodes, before anything is drawn or stored.
final class ResolvedMark: Sendable {
    /// The request for the variant.
    let request: ResolvedRequest
    /// The record; the keys of marked variants depend on its content.
    let record: SourceRecord
    /// The bytes, if they are available.
    let original: Original?
    /// How the record was found; nil if it was in memory.
    let report: CacheReport?

    init(_ request: ResolvedRequest, _ record: SourceRecord, original: Original? = nil, report: CacheReport? = nil) {
        self.request = request
        self.record = record
        self.original = original
        self.report = report
    }

    /// Whether images that show the mark may be stored.
    var mayBeStored: Bool { original?.mayBeStored ?? true }
}

extension ImageRequest {
    /// The request with the content of its mark in the recipe, and without a recipe for a mark that it does not have.
    func drawing(_ resolved: ResolvedMark?) -> ImageRequest {
        guard mark != nil || recipe.mark != nil else { return self }
        var request = self
        request.recipe.mark = mark.map { _ in recipe.mark ?? Mark() }
        request.recipe.mark?.content = resolved?.record.content.hex ?? ""
        if resolved?.mayBeStored == false { request.cache.store.variants = [] }
        return request
    }
}

extension ImageResponse {
    /// The response, which shows a mark: it is only as fresh and as widely storable as the stricter of its two sources.
    /// It also reports whether the mark's origin was contacted.
    func showing(_ mark: ResolvedMark, now: Date) -> ImageResponse {
        guard let record else { return self }
        var response = self
        response.markRecord = mark.record
        let age = (own: record.freshness.age(at: now), mark: mark.record.freshness.age(at: now))
        response.age = max(age.own, age.mark)
        response.remaining = min(record.freshness.remaining(at: now), mark.record.freshness.remaining(at: now))
        response.cachePolicy = cachePolicy.combined(with: mark.record.cachePolicy, lead: age.own - age.mark)
        // Another mark may have an older date.
        response.lastModified = nil
        if let report = mark.report {
            if cache.forwarded == nil, report.forwarded != nil {
                response.cache.forwarded = report.forwarded
                response.cache.originStatus = report.originStatus
            }
            response.cache.staleBecause = cache.staleBecause ?? report.staleBecause
        }
        return response
    }
}
