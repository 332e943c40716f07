public import DarkroomCache
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
        let known = await resolver.inquiry(request, nil, .peek).look.record
        return CacheLocation(await resolver.cache.entries(of: request.access, known))
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
        await resolver.cache.entries(of: source)
    }

    /// The pixel queue's load at this moment.
    public var load: PipelineLoad { resolver.producer.pixels.queue.load }
}

/// What a pipeline keeps.
extension ImagePipeline {
    /// Purges sources from the caches, along with their remembered failures. Work in progress for them is answered but
    /// not stored.
    ///
    /// - Parameters:
    ///   - soft: marks the sources as stale instead of removing them.
    ///   - dryRun: reports what would be purged without purging it.
    ///   - tiers: the tiers to purge. Purging a single tier is meant for `.everything`. With the shared one, the other
    ///     servers purge the sources too.
    @discardableResult
    public func purge(
        _ target: PurgeTarget, soft: Bool = false, dryRun: Bool = false, tiers: TierSet = .all
    ) async -> PurgeReport {
        await resolver.cache.purge(target, soft: soft, dryRun: dryRun, tiers: tiers)
    }

    /// Carries out the purges of other servers that share a tier with this one.
    ///
    /// - Returns: whether they could be read; true without a shared tier.
    @discardableResult
    package func carryOutPurges() async -> Bool { await resolver.cache.carryOutPurges() }

    /// Removes the disk entries that are older than the disk tier keeps them.
    @discardableResult
    public func removeExpired() async -> PurgeReport {
        await resolver.cache.removeExpired()
    }

    /// Evicts from memory, decoded images included, until this fraction, 0 to 1, of the bytes held is left.
    public func shrinkMemory(toFraction fraction: Double) {
        resolver.cache.shrinkMemory(toFraction: fraction)
        // Last, since it returns the memory that the others freed to the system.
        processing.shrinkMemory(toFraction: fraction)
    }
}
