import DarkroomCache
import DarkroomHTTPCaching
import DarkroomTransforms

/// Requests whose image shows a mark.
extension ImagePipeline {
    /// The request for a mark; nil without one.
    func markRequest(of request: ImageRequest, _ urgency: Urgency) -> ResolvedRequest? {
        guard var input = request.ofMark else { return nil }
        if !input.cache.policy.allowsStoring { input.cache.store = .none }
        let chain = TransformChain(input.recipe, limits: configuration.limits)
        let keys = RequestKeys(
            input, chain: chain, identity: keyFilter.identity(of: input.source), epoch: encoderEpoch)
        return ResolvedRequest(
            input: input, chain: chain, keys: keys, epoch: resolver.cache.epoch(of: keys.source),
            urgency: urgency)
    }

    /// The image of a request, with its mark if it has one. The mark comes first: if it fails, so does the request, and
    /// no fallback is used. If the mark has changed by the time it is drawn, the request starts over, once.
    func markedImage(
        for request: ResolvedRequest, _ look: CacheLook?
    ) async throws(PipelineError) -> ImageResponse {
        guard request.input.mark != nil else { return try await imageOrFallback(for: request, look) }
        let marked = request.lacksMark ? try await withMark(request) : request
        do throws(PipelineError) {
            let response = try await imageOrFallback(for: marked, request.lacksMark ? nil : look)
            return showingMark(response, marked)
        } catch {
            guard let mark = marked.mark, resolver.hasChanged(mark) else { throw error }
            let again = try await withMark(request)
            return showingMark(try await imageOrFallback(for: again, nil), again)
        }
    }

    /// A response to a request, limited by the request's mark.
    func showingMark(_ response: ImageResponse, _ request: ResolvedRequest) -> ImageResponse {
        request.mark.map { response.showing($0, now: resolver.now()) } ?? response
    }

    /// The request with its mark, from the caches or from its origin.
    private func withMark(_ request: ResolvedRequest) async throws(PipelineError) -> ResolvedRequest {
        guard var asked = markRequest(of: request.input, request.urgency) else { return request }
        asked.deadline = request.deadline
        let mark = try await resolver.mark(for: asked)
        var marked = resolve(request.input, reporter: request.reporter, mark: mark)
        marked.urgency = request.urgency
        marked.deadline = request.deadline
        return marked
    }

    /// The request with what the caches know of its mark, whether or not that may be used, without a side effect.
    func resolveForInspection(_ request: ImageRequest) async -> ResolvedRequest {
        guard let asked = markRequest(of: request, Urgency(request.priority)) else { return resolve(request) }
        guard let record = await resolver.inquiry(asked, nil, .peek).look.record else {
            return resolve(request)
        }
        return resolve(request, mark: ResolvedMark(asked, record))
    }
}
