import DarkroomCache
import DarkroomHTTPCaching
import DarkroomMachine
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import Foundation

/// The current knowledge of the images that a request draws onto its source.
struct ResolvedParts: Sendable {
    /// The images that are drawn, in the order of the request.
    var found: [ResolvedPart] = []
    /// The images that failed, without which the result is made.
    var leftOut: [(part: PartImage, error: PipelineError)] = []

    /// The bytes that are held of the images.
    var heldBytes: Int { found.reduce(0) { $0 + ($1.original?.body.count ?? 0) } }

    /// The images without their shares of the in-flight byte budget, for a job that has a budget of its own.
    var released: ResolvedParts {
        ResolvedParts(
            found: found.map { part in
                ResolvedPart(
                    part.part, part.request, part.record, original: part.original?.released, report: part.report,
                    failure: part.failure)
            }, leftOut: leftOut)
    }

    /// The failed sources, and why the result differs from the requested one.
    var failures: [(source: SourceURL, error: PipelineError)] {
        found.compactMap(\.failure)
            + leftOut.flatMap { part, error in part.sources.map { (source: $0, error: error) } }
    }
}

/// The current knowledge of one image that a request draws.
///
/// It is a source like any other, with a record, an original and one variant, its color. That variant is never sent:
/// it proves that the image decodes, before anything is drawn or stored.
final class ResolvedPart: Sendable {
    let part: PartImage
    /// The request for the variant.
    let request: ResolvedRequest
    /// The record; the keys of variants that show the image depend on its content.
    let record: SourceRecord
    /// The bytes, if they are available.
    let original: Original?
    /// Parks the bytes until all images are there; nil if the bytes are not counted.
    let parking: Parking?
    /// How the record was found; nil if it was in memory.
    let report: CacheReport?
    /// The failed source that this image replaces, and its error; nil if it is the requested image.
    let failure: (source: SourceURL, error: PipelineError)?

    init(
        _ part: PartImage, _ request: ResolvedRequest, _ record: SourceRecord, original: Original? = nil,
        report: CacheReport? = nil, failure: (source: SourceURL, error: PipelineError)? = nil
    ) {
        (self.part, self.request, self.record) = (part, request, record)
        (self.original, self.report, self.failure) = (original, report, failure)
        parking = original?.park()
    }

    /// Whether images that show this image may be stored.
    var mayBeStored: Bool { original?.mayBeStored ?? true }
}

extension Original {
    /// Keeps the bytes within the in-flight byte budget, while another download of the same request may wait for its
    /// part of it.
    func park() -> Parking? { (hold as? ByteReservation)?.park() }
}

/// The bytes of an image that is drawn.
struct DrawnOriginal: Sendable {
    let original: Original
    /// See ``PartImage/isTrusted``.
    let isTrusted: Bool
}

extension ImageRequest {
    /// The request with the contents of its images in the recipe, and without steps for images that it does not have.
    func drawing(_ parts: ResolvedParts?) -> ImageRequest {
        guard !self.parts.isEmpty || recipe.drawsImages else { return self }
        var request = self
        let leftOut = Set(parts?.leftOut.map(\.part.name) ?? [])
        let names = Set(self.parts.map(\.name)).subtracting(leftOut)
        let contents = Dictionary(parts?.found.map { ($0.part.name, $0.record.content.hex) } ?? []) { $1 }
        if mark != nil, recipe.mark == nil { request.recipe.mark = Mark() }
        request.recipe.setContents(contents, of: names)
        if parts?.found.contains(where: { !$0.mayBeStored }) == true { request.cache.store.variants = [] }
        return request
    }
}

extension Recipe {
    fileprivate var drawsImages: Bool { mark != nil || !layers.isEmpty || steps.contains(where: \.drawsMark) }

    /// Sets the contents of the images with these names, and removes what draws others.
    fileprivate mutating func setContents(_ contents: [String: String], of names: Set<String>) {
        mark = names.contains("") ? mark : nil
        mark?.content = contents[""] ?? ""
        steps = steps.compactMap { step in
            switch step {
            case .mark: return names.contains("") ? step : nil
            case .drawing(var drawing):
                drawing.content = contents[drawing.image] ?? ""
                return names.contains(drawing.image) ? .drawing(drawing) : nil
            default: return step
            }
        }
        layers = layers.compactMap { layer in
            guard case .picture(var picture) = layer.content else { return layer }
            guard names.contains(layer.name) else { return nil }
            var layer = layer
            picture.content = contents[layer.name] ?? ""
            layer.content = .picture(picture)
            return layer
        }
    }
}

extension ImageResponse {
    /// The response, which shows images of other sources: it is only as fresh and as widely storable as the strictest
    /// of its sources. It also reports whether one of their origins was contacted.
    func showing(_ parts: ResolvedParts, now: Date) -> ImageResponse {
        guard let record else { return self }
        var response = self
        response.age = record.freshness.age(at: now)
        response.remaining = record.freshness.remaining(at: now)
        for part in parts.found {
            response.add(part.record, now: now)
            part.report.map { response.cache.add($0) }
        }
        // Other images may have an older date.
        if !parts.found.isEmpty || !parts.leftOut.isEmpty { response.lastModified = nil }
        response.partFailure = parts.failures.first?.error
        response.failedSources += parts.failures.map(\.source)
        return response
    }

    private mutating func add(_ part: SourceRecord, now: Date) {
        partRecords.append(part)
        let other = part.freshness.age(at: now)
        cachePolicy = cachePolicy.combined(with: part.cachePolicy, lead: age - other)
        age = max(age, other)
        remaining = min(remaining, part.freshness.remaining(at: now))
    }
}

extension CacheReport {
    /// Adds how a drawn image was found.
    fileprivate mutating func add(_ part: CacheReport) {
        if forwarded == nil, part.forwarded != nil { (forwarded, originStatus) = (part.forwarded, part.originStatus) }
        staleBecause = staleBecause ?? part.staleBecause
    }
}
