import DarkroomHTTPCaching
public import DarkroomNetwork
import DarkroomOrigin
import DarkroomStore
package import DarkroomTransforms

/// What a pipeline would do with a request, and what it has cached.
extension ImagePipeline {
    /// Returns the tiers that have a request's entries, without a side effect: nothing is read into memory, fetched or
    /// made (SDWebImage's cache query). Whether the entries are fresh is not considered.
    public func location(of request: ImageRequest) async -> CacheLocation {
        var request = await resolveForInspection(request)
        request.input.cache.query = .all
        return await CachedState(of: request, in: resolver.caches, now: resolver.now()).location
    }

    /// Explains how a request would be answered at this moment, and why: its keys, caches, freshness and plan. Nothing
    /// changes: no entry counts as used, nothing is stored, and no origin is contacted unless `fetch` is true.
    ///
    /// - Parameter fetch: whether the source is downloaded if the request itself would have to, so that there is a
    ///   plan. The download is not stored, since only its header is read. The explained decision is that from before
    ///   the download.
    /// - Throws: the error that the request would end in, as far as it is known without decoding. The request's
    ///   fallback is not considered.
    public func explain(_ request: ImageRequest, fetch: Bool = false) async throws(PipelineError) -> Explanation {
        let resolved = await resolveForInspection(request)
        let keys = Explanation.Keys(
            filter: "\(type(of: keyFilter))", identity: keyFilter.identity(of: request.source),
            source: resolved.keys.source.hex, original: resolved.keys.original.entry.hex,
            record: resolved.keys.record.entry.hex, variant: resolved.keys.variant.entry.hex,
            encoderEpoch: encoderEpoch)
        let explainer = RequestExplainer(
            resolver: resolver, markRequest: markRequest(of: resolved.input, resolved.urgency))
        return try await withDeadline(deadlines, expired: PipelineError.timedOut) { () async throws(PipelineError) in
            try await explainer.explain(resolved, keys: keys, fetch: fetch)
        }
    }

    /// The size of a request's result, from what is known of its source. A mark changes no size.
    ///
    /// - Throws: ``PipelineError/badParameter(_:)`` as the request would.
    package func size(of request: ImageRequest, from source: SourceSummary) throws(PipelineError) -> PlannedSize {
        let chain = delegate.transforms(TransformChain(request.recipe, limits: configuration.limits), for: request)
        do throws(TransformError) { return try chain.size(for: source) } catch { throw .badParameter(error) }
    }

    /// Returns the cached entries of a source, without a side effect.
    public func entries(of source: SourceURL) async -> SourceEntries {
        await SourceEntries(
            of: source, RequestKeys.source(keyFilter.identity(of: source)), in: resolver.caches,
            now: resolver.now())
    }

    /// The pixel queue's load at this moment.
    public var load: PipelineLoad { resolver.producer.pixels.queue.load }
}
