import DarkroomCache
import DarkroomNetwork
import DarkroomTransforms

/// Another request that the answer to a request needs.
///
/// | Companion | When | If it fails |
/// |---|---|---|
/// | mark | before the request, whose keys depend on its content | the request fails with its error |
/// | interim | instead of the request, while the requested output is encoded | the request fails with its error |
/// | placeholders | along with the image, from the same content | the answer has no placeholders |
/// | fallback | after the source has failed | the request fails with the error of its source |
enum Companion {
    case mark, interim, placeholders, fallback

    /// The error of a request if its companion failed; nil = the request is answered without the companion.
    ///
    /// - Parameter own: the error of the request itself, if it failed first.
    func failure(_ error: PipelineError, after own: PipelineError? = nil) -> PipelineError? {
        switch self {
        case .mark: error.ofMark
        case .interim: error
        case .placeholders: nil
        // A fallback that may never be used reports its own error.
        case .fallback: error.permitsFallback ? own ?? error : error
        }
    }
}

extension ImageRequest {
    /// The request for a companion; nil if this request has none.
    func companion(_ companion: Companion) -> ImageRequest? {
        var request = self
        switch companion {
        case .mark:
            guard let mark else { return nil }
            // Its color proves that the mark decodes.
            request = ImageRequest(
                source: mark, pages: PageSelection(count: 1), output: OutputOptions(format: .color), priority: priority,
                cache: data == nil ? cache : cache.besideData)
            request.cache.waitsForDisk = false
            request.client = client
        case .interim:
            guard let interim else { return nil }
            request.output = interim
            request.interim = nil
        case .placeholders:
            // Placeholders depend on nothing else in the output, so images of different formats and qualities share
            // them.
            let details = placeholders.intersection([.color, .blurHash, .thumbHash, .lqip])
            guard !details.isEmpty else { return nil }
            request.output = OutputOptions(format: .json, details: details)
            request.placeholders = []
        case .fallback:
            guard let fallback else { return nil }
            if data != nil { request.cache = cache.besideData }
            request.source = fallback
            request.fallback = nil
        }
        return request
    }
}
