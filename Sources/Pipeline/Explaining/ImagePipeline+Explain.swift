public import DarkroomNetwork
import DarkroomOrigin
import DarkroomStore

extension ImagePipeline {
    /// What would be done about a request at this moment, and why: keys, caches, freshness, the chain with its sizes. It changes
    /// nothing: no entry counts as used, nothing is stored, and no origin is asked unless `fetch` says so.
    ///
    /// - Parameter fetch: whether the source is downloaded where the request itself would have to, so that there is a plan. It is
    ///   not kept, since only its header is read. The evaluation is that from before the download.
    /// - Throws: what the request itself would end in, as far as that can be told without decoding. A request's fallback is
    ///   not followed.
    public func explain(_ request: ImageRequest, fetch: Bool = false) async throws(PipelineError) -> Explanation {
        let wanted = wanted(request)
        let keys = Explanation.Keys(
            filter: "\(type(of: keyFilter))", identity: keyFilter.identity(of: request.source),
            source: wanted.keys.source.hex, original: wanted.keys.original.entry.hex,
            record: wanted.keys.record.entry.hex, variant: wanted.keys.variant.entry.hex, encoderEpoch: epoch)
        let explain = ExplainRequest(answer: answer, limits: configuration.limits)
        return try await withDeadline(configuration.requestTimeout, clock: clock) { () async throws(PipelineError) in
            try await explain(wanted, keys: keys, fetch: fetch)
        }
    }

    /// What is cached of a source, found out without a trace.
    public func entries(of source: SourceURL) async -> SourceEntries {
        await SourceEntries(
            of: source, RequestKeys.source(keyFilter.identity(of: source)), in: answer.keep, now: answer.now())
    }
}
