import DarkroomCache
import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomRequests
import DarkroomTransforms

// Answers that need other requests; see ``Companion``. Interim outputs and placeholders are part of the decision about
// the image, and ``ImageResolver`` composes them. Marks and fallbacks are other sources.
extension ImagePipeline {
    /// The image of a request, with its mark if it has one, or of its fallback.
    ///
    /// The mark comes first: if it fails, so does the request, and no fallback is used. If the mark has changed by the
    /// time it is drawn, the request starts over, once.
    func composedImage(_ inquiry: Inquiry) async throws(PipelineError) -> ImageResponse {
        let request = inquiry.request
        var own = inquiry
        if request.lacksMark { own = resolver.fresh(try await withMark(request)) }
        do throws(PipelineError) {
            return showingMark(try await imageOrFallback(own), own.request)
        } catch {
            guard let mark = own.request.mark, resolver.hasChanged(mark) else { throw error }
            let again = try await withMark(request)
            return showingMark(try await imageOrFallback(resolver.fresh(again)), again)
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
                var resolved = resolve(fallback, observer: request.observer, mark: request.mark)
                resolved.deadline = request.deadline
                resolved.keepsOriginal = request.keepsOriginal
                var response = try await resolver.image(for: resolved)
                response.fallbackReason = error
                response.failedSource = request.source
                return response
            } catch let failure {
                // A fallback that may never be used reports its own error.
                throw failure.statusOfSource == nil ? failure : error
            }
        }
    }

    /// A response to a request, limited by the request's mark.
    func showingMark(_ response: ImageResponse, _ request: ResolvedRequest) -> ImageResponse {
        request.mark.map { response.showing($0, now: resolver.now()) } ?? response
    }

    /// The request with its mark, from the caches or from its origin.
    func withMark(_ request: ResolvedRequest) async throws(PipelineError) -> ResolvedRequest {
        guard var asked = markRequest(of: request.input, request.urgency) else { return request }
        asked.deadline = request.deadline
        let mark = try await resolver.mark(for: asked)
        var marked = resolve(request.input, observer: request.observer, mark: mark)
        marked.urgency = request.urgency
        marked.deadline = request.deadline
        return marked
    }

    /// The request with its mark as cached, whether or not the mark may be used. Has no side effect.
    func resolveForInspection(_ request: ImageRequest) async -> ResolvedRequest {
        guard let asked = markRequest(of: request, Urgency(request.priority)) else { return resolve(request) }
        guard let record = await resolver.peek(asked).look.record else { return resolve(request) }
        return resolve(request, mark: ResolvedMark(asked, record))
    }

    // MARK: Keys

    /// - Parameter mark: the request's mark; nil = the mark as the memory tier has it.
    func resolve(
        _ request: ImageRequest, observer: (any DownloadObserver)? = nil, mark: ResolvedMark? = nil
    ) -> ResolvedRequest {
        let urgency = Urgency(request.priority, client: request.client, deadline: .now + configuration.requestTimeout)
        let mark = mark ?? markRequest(of: request, urgency).flatMap { resolver.markAtOnce(for: $0) }
        var request = request.drawing(mark)
        if !request.cache.policy.allowsStoring { request.cache.store = .none }
        if request.data != nil { request.cache = request.cache.ofData }
        if configuration.aiLabel != .none { request.recipe.aiLabel = configuration.aiLabel }
        let chain = delegate.transforms(TransformChain(request.recipe, limits: configuration.limits), for: request)
        let identity = keyFilter.identity(of: request.source)
        let keys = RequestKeys(request, chain: chain, identity: identity, epoch: encoderEpoch)
        var resolved = ResolvedRequest(
            input: request, chain: chain, keys: keys, epoch: resolver.cache.epoch(of: keys.source, request.source),
            urgency: urgency, observer: observer, mark: mark)
        for companion in [Companion.placeholders, .interim] {
            guard companion != .interim || configuration.encodingBudget > .zero,
                let other = request.companion(companion)
            else { continue }
            resolved.outputs[companion] = keys.with(
                output: other.output, of: request, chain: chain, epoch: encoderEpoch)
        }
        return resolved
    }

    /// The request for a mark; nil without one.
    func markRequest(of request: ImageRequest, _ urgency: Urgency) -> ResolvedRequest? {
        guard var input = request.companion(.mark) else { return nil }
        if !input.cache.policy.allowsStoring { input.cache.store = .none }
        let chain = TransformChain(input.recipe, limits: configuration.limits)
        let keys = RequestKeys(input, chain: chain, identity: keyFilter.identity(of: input.source), epoch: encoderEpoch)
        return ResolvedRequest(
            input: input, chain: chain, keys: keys, epoch: resolver.cache.epoch(of: keys.source, input.source),
            urgency: urgency)
    }

    /// Throws if the source or the mark may not be contacted, as far as that is known without resolving a name. Cached
    /// entries do not count: they may have been stored under other settings.
    func requireAllowedSources(of request: ImageRequest) throws(PipelineError) {
        let origin = resolver.fetcher.fetch.origin
        if request.data == nil, let refusal = origin.refusal(of: request.source) { throw PipelineError(refusal) }
        if let mark = request.mark, let refusal = origin.refusal(of: mark) { throw PipelineError(refusal).ofMark }
    }
}

// A mark is resolved before its request, because the keys depend on its content.
extension ImageResolver {
    /// The mark of a request, if its record is in memory and may be used without contacting the origin. Never waits.
    func markAtOnce(for request: ResolvedRequest) -> ResolvedMark? {
        guard let record = cache.storedRecord(request.access), !record.varies else { return nil }
        let evaluation = CacheEvaluation(
            stored: record.freshness, isSelected: true, policy: request.cache.policy, now: now())
        return evaluation.decision == .use ? ResolvedMark(request, record) : nil
    }

    /// The mark of a request, from the caches or its origin.
    func mark(for request: ResolvedRequest) async throws(PipelineError) -> ResolvedMark {
        var request = request
        request.keepsOriginal = .ifAvailable
        let (response, record) = try await found(request)
        // The download of the source may wait for bytes that the download of the mark would hold. Cached bytes are
        // found again.
        var original = response.original?.released
        if response.original?.isStored == true, !request.cache.store.originals.isEmpty { original = nil }
        return ResolvedMark(request, record, original: original, report: response.cache)
    }

    /// The bytes of a request's mark; nil if it has none.
    func originalOfMark(of request: ResolvedRequest) async throws(PipelineError) -> Original? {
        guard let mark = request.mark else { return nil }
        if let original = mark.original { return original }
        var again = mark.request
        // The work is shared: one request's deadline must not end it for the others.
        again.deadline = nil
        again.keepsOriginal = .always
        if let original = await cache.original(mark.record, for: again.access) { return original }
        // If the mark has changed, the request starts over.
        let (response, record) = try await found(again)
        guard let original = response.original, record.content == mark.record.content else { throw .failed }
        return original
    }

    /// Whether the caches have newer content of a mark.
    func hasChanged(_ mark: ResolvedMark) -> Bool {
        cache.storedRecord(mark.request.access).map { $0.content != mark.record.content } ?? false
    }

    private func found(_ request: ResolvedRequest) async throws(PipelineError) -> (ImageResponse, SourceRecord) {
        do throws(PipelineError) {
            let response = try await image(for: request)
            guard let record = response.record else { throw .failed }
            return (response, record)
        } catch { throw error.ofMark }
    }
}

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
            if !trustsMark { request.account = account }
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
