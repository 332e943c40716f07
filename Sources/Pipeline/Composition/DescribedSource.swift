import DarkroomCache
package import DarkroomRequests
package import DarkroomTransforms
import DarkroomWaiting

/// A source whose document was made, with its bytes: its images can be planned without a further download.
package struct DescribedSource: Sendable {
    /// The document.
    package let response: ImageResponse
    let original: Original?
}

extension ImagePipeline {
    /// Makes the document of a source, or of the request's fallback, and keeps the source's bytes.
    package func describe(_ request: ImageRequest) async throws(PipelineError) -> DescribedSource {
        var response = try await image(for: request, keepsOriginal: .always)
        // Without the reservation of the download, which others wait for.
        let original = response.original?.released
        response.original = nil
        return DescribedSource(response: response, original: original)
    }

    /// Plans the image of a request from a described source. Throws the errors that the request would end in, as far as
    /// they are known without decoding.
    package func plan(
        _ request: ImageRequest, of source: DescribedSource
    ) async throws(PipelineError) -> ImagePlan {
        guard let original = source.original else { throw .failed }
        let resolved = resolve(request)
        return try await withDeadline(deadlines, expired: PipelineError.timedOut) {
            [self] () async throws(PipelineError) in
            let complete = resolved.lacksParts ? try await withParts(resolved) : resolved
            let parts = try await resolver.originalsOfParts(of: complete)
            let pixels = resolver.producer.pixels
            return try await pixels.plan(pixels.job(for: complete, from: original, parts: parts), complete.urgency)
        }
    }
}

extension PipelineError {
    /// Whether planning refuses an image: no other request of the same source need be.
    package var isRefusalOfImage: Bool {
        switch self {
        case .badParameter, .tooLarge: true
        default: false
        }
    }
}
