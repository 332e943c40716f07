import DarkroomCache
import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomRequests
import DarkroomTransforms

// Answers that need other requests; see ``Companion``. Interim outputs and placeholders are part of the decision about
// the image, and ``ImageResolver`` composes them. Drawn images and fallbacks are other sources.
extension ImagePipeline {
    /// The image of a request, with the images that it draws, or of its fallback.
    ///
    /// The drawn images come first: if one fails, so does the request, unless it may be left out or replaced, and no
    /// fallback is used. If one has changed by the time it is drawn, the request starts over, once.
    func composedImage(_ inquiry: Inquiry) async throws(PipelineError) -> ImageResponse {
        let request = inquiry.request
        var own = inquiry
        if request.lacksParts { own = resolver.fresh(try await withParts(request)) }
        do throws(PipelineError) {
            return showingParts(try await imageOrFallback(own), own.request)
        } catch {
            guard let parts = own.request.parts, parts.found.contains(where: resolver.hasChanged) else { throw error }
            let again = try await withParts(request)
            return showingParts(try await imageOrFallback(resolver.fresh(again)), again)
        }
    }

    private func imageOrFallback(_ inquiry: Inquiry) async throws(PipelineError) -> ImageResponse {
        do throws(PipelineError) {
            return try await resolver.image(inquiry)
        } catch {
            let request = inquiry.request
            let input = request.input
            guard error.permitsFallback(for: input.fallbackStatuses), let fallback = input.companion(.fallback) else {
                throw error
            }
            do throws(PipelineError) {
                try requireAllowedSources(of: fallback)
                var resolved = resolve(fallback, observer: request.observer, parts: request.parts)
                resolved.access.deadline = request.access.deadline
                resolved.keepsOriginal = request.keepsOriginal
                var response = try await resolver.image(for: resolved)
                response.fallbackReason = error
                response.failedSources.append(request.source)
                return response
            } catch let failure {
                // A fallback that may never be used reports its own error.
                throw failure.statusOfSource == nil ? failure : error
            }
        }
    }

    /// A response to a request, limited by the images that the request draws.
    func showingParts(_ response: ImageResponse, _ request: ResolvedRequest) -> ImageResponse {
        request.parts.map { response.showing($0, now: resolver.now()) } ?? response
    }

    // MARK: Keys

    /// - Parameter parts: the images that the request draws; nil = the images as the memory tier has them.
    func resolve(
        _ request: ImageRequest, observer: (any DownloadObserver)? = nil, parts: ResolvedParts? = nil
    ) -> ResolvedRequest {
        let urgency = Urgency(request.priority, client: request.client, deadline: .now + configuration.requestTimeout)
        let parts = parts ?? partsAtOnce(of: request, urgency)
        var request = request.drawing(parts)
        if !request.cache.policy.allowsStoring { request.cache.store = .none }
        if request.data != nil { request.cache = request.cache.ofData }
        if configuration.aiLabel != .none { request.recipe.aiLabel = configuration.aiLabel }
        let chain = delegate.transforms(chains.chain(request.recipe), for: request)
        let identity = keyFilter.identity(of: request.source)
        let keys = RequestKeys(request, chain: chain, identity: identity, epoch: encoderEpoch)
        var resolved = ResolvedRequest(
            input: request, chain: chain, keys: keys, epoch: resolver.cache.epoch(of: keys.source, request.source),
            urgency: urgency, observer: observer, parts: parts)
        for companion in [Companion.placeholders, .interim] {
            guard companion != .interim || configuration.encodingBudget > .zero,
                let other = request.companion(companion)
            else { continue }
            resolved.outputs[companion] = keys.with(
                output: other.output, of: request, chain: chain, epoch: encoderEpoch)
        }
        return resolved
    }

    /// Throws if the source or a drawn image may not be contacted, as far as that is known without resolving a name.
    /// Cached entries do not count: they may have been stored under other settings.
    func requireAllowedSources(of request: ImageRequest) throws(PipelineError) {
        let origin = resolver.fetcher.fetch.origin
        if request.data == nil, let refusal = origin.refusal(of: request.source) { throw PipelineError(refusal) }
        for part in request.parts {
            for source in [part.source, part.fallback].compactMap(\.self) {
                if let refusal = origin.refusal(of: source) { throw PipelineError(refusal).ofPart(part.name) }
            }
        }
    }
}

/// Another request that the answer to a request needs, besides the images that it draws (``ResolvedParts``).
///
/// | Companion | When | If it fails |
/// |---|---|---|
/// | interim | instead of the request, while the requested output is encoded | the request fails with its error |
/// | placeholders | along with the image, from the same content | the answer has no placeholders |
/// | fallback | after the source has failed | the request fails with the error of its source |
enum Companion {
    case interim, placeholders, fallback
}

extension ImageRequest {
    func companion(_ companion: Companion) -> ImageRequest? {
        var request = self
        switch companion {
        case .interim:
            guard let interim else { return nil }
            request.output = interim
            request.interim = nil
        case .placeholders:
            // Placeholders depend on nothing else in the output, so images of different formats and qualities share
            // them.
            let details = placeholders.intersection([.color, .blurHash, .thumbHash, .lqip])
            guard !details.isEmpty else { return nil }
            let damaged = request.output.damaged
            request.output = OutputOptions(format: .json, details: details)
            request.output.damaged = damaged
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
