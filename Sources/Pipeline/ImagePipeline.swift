import DarkroomHTTPCaching
import DarkroomNetwork
public import DarkroomOrigin
public import DarkroomStore
public import DarkroomTransforms
public import Foundation
public import Logging

/// Gets pictures: downloaded, force-decoded, turned into what was asked for, and kept in two caches.
///
/// ```
///  request ──▶ keys ──▶ what is known of the source? ──▶ fresh ──▶ variant in memory, on disk ──▶ answer
///                              │                                        │ neither
///                              │ stale, unknown                         ▼
///                              ▼                          original in memory, on disk
///                    ask the origin, once for all               │
///                              │ 304: as fresh                  │
///                              │ 200: new content               ▼
///                              └───────────────▶ pixel thread: decode ▶ chain ▶ encode, once for all
///                                                               │
///                                        original, record and variant to their own entries
/// ```
///
/// The façade only builds these parts and runs them in order. Safe to use from any task.
public final class ImagePipeline: Sendable {
    let configuration: PipelineConfiguration
    private let delegate: any ImagePipelineDelegate
    let keyFilter: any CacheKeyFilter
    let answer: AnswerImage
    private let purger: Purger
    let clock: any Clock<Duration>
    let epoch = EncoderEpoch.current
    private let logger: Logger

    /// - Parameters:
    ///   - origin: where originals come from, for example `OriginRouter`.
    ///   - memory: the first tier, for variants and small originals. What is known of sources takes another sixteenth of
    ///     its budget.
    ///   - disk: the second tier; nil = none.
    ///   - processing: the door to pixels.
    ///   - delegate: what the user decides.
    ///   - keyFilter: which sources count as the same.
    ///   - now: the wall clock, for ages.
    ///   - clock: runs the request timeout.
    ///   - random: 0..<1, for the jitter of waiting times after failures.
    public init(
        configuration: PipelineConfiguration = PipelineConfiguration(), origin: any OriginFetching,
        memory: MemoryStore, disk: (any Storing)? = nil, processing: any ImageProcessing = InProcessImageProcessor(),
        delegate: any ImagePipelineDelegate = DefaultPipelineDelegate(),
        keyFilter: any CacheKeyFilter = CanonicalURLFilter(), logger: Logger = Logger(label: "darkroom.pipeline"),
        now: @escaping @Sendable () -> Date = { Date() }, clock: any Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.configuration = configuration
        self.delegate = delegate
        self.keyFilter = keyFilter
        self.clock = clock
        self.logger = logger
        let parts = PipelineParts(
            configuration: configuration, origin: origin, memory: memory, disk: disk, processing: processing,
            delegate: delegate, now: now, clock: clock, random: random)
        answer = parts.answer
        purger = parts.purger
    }

    deinit {
        shutdown()
    }

    /// The picture for a request, from a cache or made now. Cancelling the task gives up waiting, and the work ends when
    /// nobody waits for it any more; with `continuesInBackground` cancelling has no effect.
    ///
    /// A source that fails gives way to the request's fallback, where it has one, within the same time.
    public func image(for request: ImageRequest) async throws(PipelineError) -> ImageResponse {
        try await image(for: request, watcher: nil)
    }

    /// Begins to get the picture for a request and tells how far it is.
    ///
    /// - Parameter previews: whether pictures of what has come in so far are made too, of a JPEG while it is downloaded
    ///   (SDWebImage's `progressiveLoad`): one at 16 KiB and one each time that the bytes have doubled, on pixel threads that
    ///   have nothing else to do.
    public func imageTask(for request: ImageRequest, previews: Bool = false) -> ImageTask {
        let latest = LatestEvents()
        let watcher = DownloadWatcher(latest, makesPreviews: previews)
        let work = Task { [self] in
            defer { latest.finish() }
            return await Result { () async throws(PipelineError) in try await image(for: request, watcher: watcher) }
        }
        return ImageTask(latest, work)
    }

    private func image(
        for request: ImageRequest, watcher: DownloadWatcher?
    ) async throws(PipelineError) -> ImageResponse {
        var watch = Stopwatch()
        let wanted = wanted(request, watcher: watcher)
        var picture: ImageResponse
        if let found = answer.atOnce(wanted) { picture = found } else { picture = try await inTime(wanted) }
        picture.timings.total = watch.lap()
        return picture
    }

    private func inTime(_ wanted: Wanted) async throws(PipelineError) -> ImageResponse {
        let work = { [self] () async throws(PipelineError) in
            try await withDeadline(configuration.requestTimeout, clock: clock) { () async throws(PipelineError) in
                try await self.answerOrFallback(wanted)
            }
        }
        do throws(PipelineError) {
            guard configuration.continuesInBackground else { return try await work() }
            // A task of its own does not hear that the caller's is cancelled.
            return try await Task { await Result(catching: work) }.value.get()
        } catch {
            let error = error == .timedOut && hasWaitedInVain(wanted) ? answer.produce.queue.noteExpiry() : error
            logger.debug("no picture", metadata: ["source": "\(wanted.keys.source)", "error": "\(error)"])
            throw error
        }
    }

    /// Time that was spent in the queue is our fault, and coming back later helps.
    private func hasWaitedInVain(_ wanted: Wanted) -> Bool {
        wanted.urgency.isQueued || wanted.urgency.timeQueued > configuration.requestTimeout / 2
    }

    private func answerOrFallback(_ wanted: Wanted) async throws(PipelineError) -> ImageResponse {
        do throws(PipelineError) {
            return try await answer.withOrWithoutPlaceholders(wanted)
        } catch {
            guard let fallback = wanted.request.fallback, error.isFaultOfSource else { throw error }
            return try await self.fallback(fallback, for: wanted, because: error)
        }
    }

    /// Where the fallback fails too, the source's failure is the one to tell of, unless the fallback cannot be had on principle.
    private func fallback(
        _ fallback: SourceURL, for failed: Wanted, because error: PipelineError
    ) async throws(PipelineError) -> ImageResponse {
        var instead = failed.request
        instead.source = fallback
        instead.fallback = nil
        do throws(PipelineError) {
            var picture = try await answer.withOrWithoutPlaceholders(wanted(instead, watcher: failed.watcher))
            picture.fallbackReason = error
            return picture
        } catch let failure {
            throw failure.isFaultOfSource ? error : failure
        }
    }

    func wanted(_ request: ImageRequest, watcher: DownloadWatcher? = nil) -> Wanted {
        var request = request
        if !request.cache.policy.allowsStoring { request.cache.store = .none }
        let chain = delegate.transforms(
            TransformChain(request.recipe, limits: configuration.limits), for: request)
        let identity = keyFilter.identity(of: request.source)
        let keys = RequestKeys(request, chain: chain, identity: identity, epoch: epoch)
        var document = request
        document.output = request.placeholderOutput
        let documentKeys =
            document.output.details.isEmpty
            ? nil : RequestKeys(document, chain: chain, identity: identity, epoch: epoch)
        return Wanted(
            request: request, chain: chain, keys: keys, documentKeys: documentKeys,
            moment: answer.keep.generations.now(of: keys.source),
            urgency: Urgency(request.priority, client: request.client, deadline: .now + configuration.requestTimeout),
            watcher: watcher)
    }

    /// Where a request's entries are, without reading them into memory, asking an origin or making anything; whether they are fresh
    /// is another question (SDWebImage's cache query).
    public func location(of request: ImageRequest) async -> CacheLocation {
        await answer.location(of: wanted(request))
    }

    /// Removes what is cached of some sources, in memory and on disk, together with what is remembered of their failures. Work
    /// under way for them is answered but not kept.
    ///
    /// - Parameters:
    ///   - soft: mark it stale instead: it is revalidated before, or behind, its next use.
    ///   - dryRun: only tell what is there.
    ///   - tiers: where; clearing one tier alone suits `.everything`.
    @discardableResult
    public func purge(
        _ target: PurgeTarget, soft: Bool = false, dryRun: Bool = false, tiers: TierSet = .all
    ) async -> PurgeReport {
        await purger.purge(target, soft: soft, dryRun: dryRun, tiers: tiers, keyFilter: keyFilter)
    }

    /// Removes entries of the disk tier that are older than it is configured to keep them.
    @discardableResult
    public func removeExpired() async -> PurgeReport {
        await purger.removeExpired()
    }

    /// Brings what is kept in memory, decoded pictures too, down to this part, 0 to 1, of what it is now: for times when the
    /// system is short of it.
    public func shrinkMemory(toFraction fraction: Double) {
        purger.shrinkMemory(toFraction: fraction)
    }

    /// What waits for pixel threads and what runs there, at this moment.
    public var load: PipelineLoad { answer.produce.queue.load }

    /// Ends the pixel threads after the work they have; what waits is refused with `.cancelled`. Work in the background ends.
    /// A pipeline that nobody holds any more does so by itself.
    public func shutdown() {
        answer.background.shutdown()
        answer.produce.queue.shutdown()
    }
}
