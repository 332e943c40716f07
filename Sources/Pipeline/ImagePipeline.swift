public import DarkroomCache
public import DarkroomNetwork
public import DarkroomOrigin
public import DarkroomRequests
public import DarkroomStore
public import DarkroomTransforms
import DarkroomWaiting
public import Foundation
public import Logging
import NIOPosix
import Synchronization

/// Downloads, decodes, transforms and encodes images, and caches originals and variants.
///
/// ```
///  request ─▶ resolve: keys, chain ─▶ look up: record, variant, original
///                                          │ what is stored may be used        │ it may not, or is missing
///                                          │                                   ▼
///                                          │              fetch: ask the origin, once for all requests
///                                          │                                   │ 304, or new content
///                                          ▼                                   ▼
///                                       answer ◀─ write: record, ◀─ produce: decode ▶ chain ▶ encode on a
///                                                 original, variant          pixel thread, once for all requests
/// ```
///
/// `Resolution` decides on each step, and `ImageResolver` carries it out. A pipeline is safe to use from any task.
public final class ImagePipeline: Sendable {
    let configuration: PipelineConfiguration
    let keyFilter: any CacheKeyFilter
    let resolver: ImageResolver
    let deadlines: DeadlineTimer
    let delegate: any ImagePipelineDelegate
    let encoderEpoch: String
    let chains: RecentChains
    private let logger: Logger

    /// Creates a pipeline.
    ///
    /// - Parameters:
    ///   - origin: the source of originals, for example an ``OriginRouter``.
    ///   - memory: the first tier, for variants and small originals. Records take another sixteenth of its budget.
    ///   - disk: the second tier; nil = none.
    ///   - processing: decodes, transforms and encodes. Default: in this process.
    ///   - delegate: the decisions of the pipeline's user.
    ///   - keyFilter: decides which sources are the same image.
    ///   - now: the wall clock, for ages.
    ///   - clock: the clock of the request timeout.
    ///   - random: 0..<1, for the jitter of the backoff after failures.
    public convenience init(
        configuration: PipelineConfiguration = PipelineConfiguration(), origin: any OriginFetching,
        memory: MemoryStore, disk: (any Storing)? = nil, processing: any ImageProcessing = InProcessImageProcessor(),
        delegate: any ImagePipelineDelegate = DefaultPipelineDelegate(),
        keyFilter: any CacheKeyFilter = CanonicalURLFilter(), logger: Logger = Logger(label: "darkroom.pipeline"),
        now: @escaping @Sendable () -> Date = { Date() }, clock: any Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.init(
            configuration: configuration, origin: origin, memory: memory, disk: disk, shared: nil,
            processing: processing, delegate: delegate, keyFilter: keyFilter, logger: logger, now: now, clock: clock,
            random: random)
    }

    /// Creates a pipeline that may share a tier with other servers.
    ///
    /// - Parameter shared: the third tier, which the caller closes; nil = none.
    package init(
        configuration: PipelineConfiguration, origin: any OriginFetching, memory: MemoryStore,
        disk: (any Storing)?, shared: SharedStore?, processing: any ImageProcessing,
        delegate: any ImagePipelineDelegate = DefaultPipelineDelegate(), keyFilter: any CacheKeyFilter, logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() }, clock: any Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.configuration = configuration
        encoderEpoch = EncoderEpoch.identifier(configuration.efforts, limits: configuration.limits)
        chains = RecentChains(limits: configuration.limits)
        self.delegate = delegate
        self.keyFilter = keyFilter
        self.logger = logger
        let policy = configuration.freshness
        let cache = ImageCache(
            memory: memory, disk: disk, shared: shared, policy: policy, processing: processing,
            identity: { keyFilter.identity(of: $0) }, clearOutages: { origin.clearOutages(ofHost: $0) },
            logger: logger, now: now, clock: clock, random: random)
        let pixels = PixelWork(
            queue: WorkQueue(
                workers: configuration.pixelWorkers, depth: configuration.queueDepth,
                memoryBudgetBytes: configuration.memoryBudgetBytes),
            processing: processing, limits: configuration.limits, efforts: configuration.efforts)
        deadlines = DeadlineTimer(configuration.requestTimeout, clock: clock)
        resolver = ImageResolver(
            cache: cache,
            fetcher: SharedFetch(
                fetch: OriginFetch(origin: origin, delegate: delegate, policy: policy, cache: cache, now: now),
                queue: pixels.queue),
            producer: VariantProducer(
                pixels: pixels, cache: cache, speed: EncodingSpeed(configuration.efforts), now: now),
            deadlines: deadlines,
            upgrades: FormatUpgrades(
                BackgroundJobs(
                    BackgroundJobs.Limits(
                        running: configuration.pixelWorkers / 2, heldBytes: configuration.memoryBudgetBytes / 8),
                    isOverloaded: { pixels.queue.refusal(of: Urgency(.background)) != nil }),
                deadlines: deadlines),
            encodingBudget: configuration.encodingBudget, now: now)
    }

    /// Creates a pipeline that downloads over HTTP and HTTPS from public addresses and caches in memory.
    ///
    /// Create one and share it: all requests use its threads and caches, which are released with it.
    ///
    /// - Parameters:
    ///   - downloads: the hosts that may be contacted, and the limits on downloads. Default: any host at a public
    ///     address.
    ///   - memoryBytes: the budget of the memory tier in bytes; 0 = none. Default: 256 MiB.
    ///   - disk: a second tier, for example a ``DiskStore``, which the caller closes. Default: none.
    ///   - delegate: the decisions of the pipeline's user.
    ///   - keyFilter: decides which sources are the same image. Default: sources with equal canonical addresses.
    public convenience init(
        configuration: PipelineConfiguration = PipelineConfiguration(),
        downloads: GuardedHTTPClient.Settings = GuardedHTTPClient.Settings(), memoryBytes: Int = 256 << 20,
        disk: (any Storing)? = nil, delegate: any ImagePipelineDelegate = DefaultPipelineDelegate(),
        keyFilter: any CacheKeyFilter = CanonicalURLFilter()
    ) {
        self.init(
            configuration: configuration,
            origin: GuardedHTTPClient(settings: downloads, eventLoopGroup: MultiThreadedEventLoopGroup.singleton),
            memory: MemoryStore(budgetBytes: memoryBytes), disk: disk, delegate: delegate, keyFilter: keyFilter)
    }

    deinit {
        shutdown()
    }

    // MARK: Requests

    /// Returns the image for a request, from a cache or newly processed.
    ///
    /// Canceling the task stops waiting; the work is canceled when no other request waits for it. If the source fails,
    /// the request's fallback is used, within the same timeout.
    public func image(for request: ImageRequest) async throws(PipelineError) -> ImageResponse {
        try await image(for: request, observer: nil)
    }

    /// Returns the image for a request as above.
    ///
    /// - Parameter observer: follows the downloads; nil = none does.
    package func image(
        for request: ImageRequest, observer: (any DownloadObserver)?
    ) async throws(PipelineError) -> ImageResponse {
        try await image(for: request, observer: observer, keepsOriginal: .never)
    }

    func image(
        for request: ImageRequest, observer: (any DownloadObserver)? = nil,
        keepsOriginal: ResolvedRequest.KeepsOriginal
    ) async throws(PipelineError) -> ImageResponse {
        let stopwatch = Stopwatch()
        try requireAllowedSources(of: request)
        if resolver.cache.isBehind { await resolver.cache.catchUpWithPurges() }
        var request = resolve(request, observer: observer)
        request.keepsOriginal = keepsOriginal
        var inquiry = resolver.inquiry(request)
        if let found = resolver.answerNow(&inquiry) {
            return finished(showingParts(found, request), request, stopwatch)
        }
        return try await answer(to: inquiry, stopwatch)
    }

    /// The answer to an inquiry that needs waiting.
    private func answer(to inquiry: Inquiry, _ stopwatch: Stopwatch) async throws(PipelineError) -> ImageResponse {
        var inquiry = inquiry
        let request = inquiry.request
        if !request.lacksParts {
            // No deadline counts yet: a disk that does not answer counts as a miss after a few seconds.
            await resolver.look(&inquiry)
            if let found = resolver.answerNow(&inquiry) {
                return finished(showingParts(found, request), request, stopwatch)
            }
        }
        return finished(try await imageWithinTimeout(inquiry), request, stopwatch)
    }

    private func finished(
        _ response: ImageResponse, _ request: ResolvedRequest, _ stopwatch: Stopwatch
    ) -> ImageResponse {
        var (response, stopwatch) = (response, stopwatch)
        if request.keepsOriginal == .never { response.original = nil }
        if response.cache.variant != nil { request.access.share?.recordHit(request.keys.variant) }
        if response.isInterim { resolver.upgrades.recordInterimAnswer() }
        if request.input.data != nil, response.fallbackReason == nil {
            response.cache = response.cache.ofData(request.cache)
            response.timings.fetch = nil
        }
        response.timings.total = stopwatch.lap()
        return response
    }

    private func imageWithinTimeout(_ inquiry: Inquiry) async throws(PipelineError) -> ImageResponse {
        var inquiry = inquiry
        let deadline = Deadline()
        inquiry.request.access.deadline = deadline
        let number = deadlines.begin(deadline.pass)
        defer { deadlines.end(number) }
        do throws(PipelineError) {
            return try await composedImage(inquiry)
        } catch {
            let error = deadline.hasPassed ? timeout(of: inquiry.request) : error
            log(error, of: inquiry.request)
            throw error
        }
    }

    private func log(_ error: PipelineError, of request: ResolvedRequest) {
        logger.debug("request failed", metadata: ["source": "\(request.keys.source)", "error": "\(error)"])
    }

    /// The error of a request whose deadline has passed. If that is due to the pixel queue, the client should retry
    /// later.
    private func timeout(of request: ResolvedRequest) -> PipelineError {
        let wait = request.urgency.timeQueued
        let isDueToQueue = request.urgency.isQueued || wait > configuration.requestTimeout / 2
        return isDueToQueue ? resolver.producer.pixels.queue.refuse(.expired, after: wait) : .timedOut
    }

    // MARK: Shutdown

    /// Ends the pixel threads after the jobs that they run; waiting jobs fail with ``PipelineError/cancelled``, and
    /// background work is canceled. Called when the pipeline is released.
    public func shutdown() {
        resolver.background.shutdown()
        resolver.upgrades.jobs.shutdown()
        resolver.cache.shutdown()
        resolver.producer.pixels.queue.shutdown()
    }
}

/// Inspection: how a pipeline would answer a request, and its cached entries.
extension ImagePipeline {
    /// Returns the tiers that have a request's entries, without a side effect: nothing is read into memory, fetched or
    /// processed (SDWebImage's cache query). Whether the entries are fresh is not considered.
    public func location(of request: ImageRequest) async -> CacheLocation {
        var request = await resolveForInspection(request)
        request.input.cache.query = .all
        let known = await resolver.peek(request).look.record
        let entries = await resolver.cache.entries(of: request.access, known)
        let tiers = { (kind: CachedEntry.Kind) in entries.first { $0.kind == kind }?.tiers ?? [] }
        return CacheLocation(original: tiers(.original), variant: tiers(.variant))
    }

    /// The size of a request's result, from the known summary of its source. Drawn images do not change the size.
    ///
    /// - Throws: ``PipelineError/badParameter(_:)`` as the request would.
    package func size(of request: ImageRequest, from source: SourceSummary) throws(PipelineError) -> PlannedSize {
        let chain = delegate.transforms(TransformChain(request.recipe, limits: configuration.limits), for: request)
        do throws(TransformError) { return try chain.size(for: source) } catch { throw .badParameter(error) }
    }

    /// Returns the cached entries of a source, without a side effect.
    public func entries(of source: SourceURL) async -> SourceEntries { await resolver.cache.entries(of: source) }

    /// The pixel queue's load at this moment.
    public var load: PipelineLoad { resolver.producer.pixels.queue.load }
}

/// Changes to the cached entries.
extension ImagePipeline {
    /// Purges sources from the caches, along with their remembered failures. Work in progress for them is answered but
    /// not stored.
    ///
    /// - Parameters:
    ///   - soft: marks the sources as stale instead of removing them.
    ///   - dryRun: reports what would be purged without purging it.
    ///   - tiers: the tiers to purge. Purging a single tier is meant for `.everything`. With the shared tier, the other
    ///     servers purge the sources too.
    @discardableResult public func purge(
        _ target: PurgeTarget, soft: Bool = false, dryRun: Bool = false, tiers: TierSet = .all
    ) async -> PurgeReport { await purge(target, soft: soft, dryRun: dryRun, tiers: tiers) { _ in } }

    /// Purges sources as above.
    ///
    /// - Parameter progress: receives what was purged so far: first once the other servers know of the purge, then
    ///   whenever some sources were purged.
    package func purge(
        _ target: PurgeTarget, soft: Bool, dryRun: Bool, tiers: TierSet,
        progress: @escaping @Sendable (PurgeReport) -> Void
    ) async -> PurgeReport {
        await resolver.cache.purge(target, soft: soft, dryRun: dryRun, tiers: tiers, progress: progress)
    }

    /// Carries out the purges of other servers that share a tier with this server.
    ///
    /// - Returns: whether the purges could be read; true without a shared tier.
    @discardableResult package func carryOutPurges() async -> Bool { await resolver.cache.carryOutPurges() }

    /// Carries them out before the first request. Waits for about a second at most, as requests do.
    package func catchUpWithPurges() async { await resolver.cache.catchUpWithPurges() }

    /// Removes the disk entries that are older than the disk tier keeps them.
    @discardableResult public func removeExpired() async -> PurgeReport { await resolver.cache.removeExpired() }

    /// Evicts from memory, decoded images included, until this fraction, 0 to 1, of the bytes held is left.
    public func shrinkMemory(toFraction fraction: Double) { resolver.cache.shrinkMemory(toFraction: fraction) }
}

/// A request whose chain and keys were derived once, to look its image up in the caches again and again.
package final class ImageLookup: Sendable {
    let resolved: ResolvedRequest
    /// The request with the drawn images that were current at the last call; nil without such images.
    let complete = Mutex<ResolvedRequest?>(nil)

    package var request: ImageRequest { resolved.input }

    fileprivate init(_ resolved: ResolvedRequest) { self.resolved = resolved }
}

/// What a pipeline says of a request at once.
package enum Inquired: Sendable {
    /// The image: all its parts are in memory, or in files that the system has in memory, and may be used without
    /// contact to an origin.
    case found(ImageResponse)
    /// The source is unknown, and an earlier failure of it is remembered, or the origin may not be contacted.
    case failed(PipelineError)
    /// The source is unknown, and the pixel queue is full. Under overload, cheap refusals leave more time for making
    /// images.
    case refused(PipelineError)
    /// The answer has to be waited for.
    case waits(@Sendable () async throws(PipelineError) -> ImageResponse)
}

extension ImagePipeline {
    /// Derives the keys of a request.
    package func lookup(for request: ImageRequest) -> ImageLookup { ImageLookup(resolve(request)) }

    /// Asks for the image of a request. Never waits.
    ///
    /// Each call checks permission, storage, purges and freshness again. The chain and the key of the source date from
    /// the moment when the lookup was made.
    ///
    /// - Parameters:
    ///   - client: the client of this call, see ``ImageRequest/client``.
    ///   - priority: the priority of the work for this call.
    package func ask(_ lookup: ImageLookup, client: String, priority: Priority) -> Inquired {
        let stopwatch = Stopwatch()
        guard !resolver.cache.isBehind, let request = currentRequest(of: lookup) else {
            var input = lookup.request
            (input.client, input.priority) = (client, priority)
            return .waits { [self, input] () async throws(PipelineError) in try await image(for: input) }
        }
        var inquiry = resolver.inquiry(request)
        if let found = resolver.answerNow(&inquiry) {
            return ifAllowed(request) { .found(finished(showingParts(found, request), request, stopwatch)) }
        }
        inquiry.request = renewed(request, client: client, priority: priority)
        if let failure = resolver.failureNow(&inquiry) {
            log(failure, of: request)
            return ifAllowed(request) { .failed(failure) }
        }
        if mayRefuse, let refusal = resolver.refusal(&inquiry) {
            return ifAllowed(request) { .refused(resolver.producer.pixels.queue.refuse(refusal)) }
        }
        return .waits { [self, inquiry] () async throws(PipelineError) in
            // Here, the log names the request of a source that is not allowed.
            try requireAllowedSources(of: inquiry.request.input)
            return try await answer(to: inquiry, stopwatch)
        }
    }

    private func ifAllowed(_ request: ResolvedRequest, _ answer: () -> Inquired) -> Inquired {
        do throws(PipelineError) { try requireAllowedSources(of: request.input) } catch {
            return .waits { () async throws(PipelineError) in throw error }
        }
        return answer()
    }

    /// The request as work that begins now. What was found before the epoch is looked up again, so no purge is missed.
    func renewed(_ request: ResolvedRequest, client: String, priority: Priority) -> ResolvedRequest {
        var request = request
        (request.input.client, request.input.priority) = (client, priority)
        request.urgency = Urgency(priority, client: client, deadline: .now + configuration.requestTimeout)
        request.access.epoch = resolver.cache.epoch(of: request.keys.source, request.source)
        let (input, urgency) = (request.input, request.urgency)
        let renewed = request.parts?.found.map { known in
            ResolvedPart(known.part, partRequest(known.part, of: input, urgency), known.record)
        }
        if let renewed { request.parts?.found = renewed }
        return request
    }

    private var mayRefuse: Bool { resolver.producer.pixels.queue.mayRefuse(within: configuration.requestTimeout) }

    /// The error of a request whose source has not been received yet, if the pixel queue is full. Never waits. Nil
    /// means that ``image(for:)`` has to decide, as for a request that a cache may answer.
    package func refusalOfUpload(_ request: ImageRequest) -> PipelineError? {
        guard request.cache.store.variants.isEmpty, mayRefuse else { return nil }
        let queue = resolver.producer.pixels.queue
        let urgency = Urgency(request.priority, client: request.client, deadline: .now + configuration.requestTimeout)
        return queue.refusal(of: urgency).map { queue.refuse($0) }
    }
}
