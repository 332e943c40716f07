import DarkroomCache
import DarkroomHTTPCaching
import DarkroomNetwork
public import DarkroomOrigin
public import DarkroomStore
public import DarkroomTransforms
public import Foundation
public import Logging
import NIOPosix

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
    let processing: any ImageProcessing
    let encoderEpoch: String
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
        encoderEpoch = EncoderEpoch.identifier(configuration.efforts)
        self.delegate = delegate
        self.keyFilter = keyFilter
        self.logger = logger
        self.processing = processing
        let policy = configuration.freshness
        let cache = ImageCache(
            memory: memory, disk: disk, shared: shared, policy: policy,
            surroundings: PurgeSurroundings(
                identity: { keyFilter.identity(of: $0) }, clearOutages: { origin.clearOutages(ofHost: $0) },
                removeDecoded: { content in
                    if let content {
                        processing.removeDecoded(identity: content.hex)
                    } else {
                        processing.shrinkMemory(toFraction: 0)
                    }
                }),
            logger: logger, now: now, random: random)
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
                queue: pixels.queue, previewMaker: PreviewMaker(pixels: pixels)),
            producer: VariantProducer(
                pixels: pixels, cache: cache, speed: EncodingSpeed(configuration.efforts), now: now),
            background: BackgroundWork(deadlines: deadlines),
            upgrades: FormatUpgrades(configuration, deadlines: deadlines, queue: pixels.queue),
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
    ///   - keyFilter: decides which sources are the same image. Default: those with equal canonical addresses.
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

    /// Returns the image for a request, from a cache or made now.
    ///
    /// Canceling the task stops waiting; the work is canceled when no other request waits for it. With
    /// ``PipelineConfiguration/continuesInBackground`` cancellation has no effect. If the source fails, the request's
    /// fallback is used, within the same timeout.
    public func image(for request: ImageRequest) async throws(PipelineError) -> ImageResponse {
        try await image(for: request, reporter: nil)
    }

    /// Starts a request and reports its progress.
    ///
    /// - Parameter previews: whether previews are made while a JPEG is downloaded (SDWebImage's `progressiveLoad`): at
    ///   16 KiB, and each time the bytes received have doubled, on otherwise idle pixel threads.
    public func imageTask(for request: ImageRequest, previews: Bool = false) -> ImageTask {
        let events = EventBuffer()
        let reporter = ImageTaskReporter(events, makesPreviews: previews)
        let work = Task { [self] in
            defer { events.finish() }
            return await Result { () async throws(PipelineError) in
                try await image(for: request, reporter: reporter)
            }
        }
        return ImageTask(events, work)
    }

    private func image(
        for request: ImageRequest, reporter: ImageTaskReporter?
    ) async throws(PipelineError) -> ImageResponse {
        var stopwatch = Stopwatch()
        try requireAllowedSources(of: request)
        if resolver.cache.isBehind { await resolver.cache.carryOutPurges() }
        let request = resolve(request, reporter: reporter)
        var response: ImageResponse
        if request.lacksMark {
            response = try await imageWithinTimeout(for: request, nil)
        } else if let found = resolver.imageAtOnce(for: request) {
            response = showingMark(found, request)
        } else {
            // No deadline counts yet: a disk that does not answer counts as a miss after a few seconds.
            let look = await resolver.cache.look(request.access)
            if let found = resolver.imageAtOnce(for: request, look) {
                response = showingMark(found, request)
            } else {
                response = try await imageWithinTimeout(for: request, look)
            }
        }
        response.original = nil
        if response.isInterim { resolver.upgrades.recordInterimAnswer() }
        if request.input.data != nil, response.fallbackReason == nil {
            response.cache = response.cache.ofData(request.cache)
            response.timings.fetch = nil
        }
        response.timings.total = stopwatch.lap()
        return response
    }

    /// Throws if the source or the mark may not be contacted, as far as that is known without resolving a name. What a
    /// cache has of it counts for nothing: it may have been stored under other settings.
    private func requireAllowedSources(of request: ImageRequest) throws(PipelineError) {
        let origin = resolver.fetcher.fetch.origin
        if request.data == nil, let refusal = origin.refusal(of: request.source) { throw PipelineError(refusal) }
        if let mark = request.ofMark, let refusal = origin.refusal(of: mark.source) {
            throw PipelineError(refusal).ofMark
        }
    }

    private func imageWithinTimeout(
        for request: ResolvedRequest, _ look: CacheLook?
    ) async throws(PipelineError) -> ImageResponse {
        var request = request
        let deadline = Deadline()
        request.deadline = deadline
        let number = deadlines.begin(deadline.pass)
        defer { deadlines.end(number) }
        do throws(PipelineError) {
            guard configuration.continuesInBackground else { return try await markedImage(for: request, look) }
            // An unstructured task is not canceled with the caller's.
            return try await Task { [request] in
                await Result { () async throws(PipelineError) in try await markedImage(for: request, look) }
            }.value.get()
        } catch {
            let error = deadline.hasPassed ? timeout(of: request) : error
            logger.debug(
                "request failed", metadata: ["source": "\(request.keys.source)", "error": "\(error)"])
            throw error
        }
    }

    /// The error of a request whose deadline has passed. If that is due to the pixel queue, the client should retry
    /// later.
    private func timeout(of request: ResolvedRequest) -> PipelineError {
        let wait = request.urgency.timeQueued
        let isDueToQueue = request.urgency.isQueued || wait > configuration.requestTimeout / 2
        return isDueToQueue ? resolver.producer.pixels.queue.refuse(.expired, after: wait) : .timedOut
    }

    func imageOrFallback(
        for request: ResolvedRequest, _ look: CacheLook?
    ) async throws(PipelineError) -> ImageResponse {
        do throws(PipelineError) {
            return try await resolver.image(for: request, look)
        } catch {
            guard let fallback = request.input.fallback, error.permitsFallback else { throw error }
            return try await imageOfFallback(fallback, for: request, because: error)
        }
    }

    /// If the fallback fails too, the error is the source's, unless the fallback is refused on principle.
    private func imageOfFallback(
        _ fallback: SourceURL, for failed: ResolvedRequest, because error: PipelineError
    ) async throws(PipelineError) -> ImageResponse {
        var request = failed.input
        if request.data != nil { request.cache = request.cache.besideData }
        request.source = fallback
        request.fallback = nil
        do throws(PipelineError) {
            try requireAllowedSources(of: request)
            var resolved = resolve(request, reporter: failed.reporter, mark: failed.mark)
            resolved.deadline = failed.deadline
            var response = try await resolver.image(for: resolved)
            response.fallbackReason = error
            return response
        } catch let failure {
            throw failure.permitsFallback ? error : failure
        }
    }

    /// - Parameter mark: the request's mark; nil = what memory has of it.
    func resolve(
        _ request: ImageRequest, reporter: ImageTaskReporter? = nil, mark: ResolvedMark? = nil
    ) -> ResolvedRequest {
        let urgency = Urgency(
            request.priority, client: request.client, deadline: .now + configuration.requestTimeout)
        let mark = mark ?? markRequest(of: request, urgency).flatMap { resolver.markAtHand(for: $0) }
        var request = request.drawing(mark)
        if !request.cache.policy.allowsStoring { request.cache.store = .none }
        if request.data != nil { request.cache = request.cache.ofData }
        let chain = delegate.transforms(
            TransformChain(request.recipe, limits: configuration.limits), for: request)
        let identity = keyFilter.identity(of: request.source)
        let keys = RequestKeys(request, chain: chain, identity: identity, epoch: encoderEpoch)
        let derivedKeys = { [encoderEpoch] (output: OutputOptions) in
            keys.with(output: output, of: request, chain: chain, epoch: encoderEpoch)
        }
        let document = request.placeholderOutput
        return ResolvedRequest(
            input: request, chain: chain, keys: keys,
            placeholderKeys: document.details.isEmpty ? nil : derivedKeys(document),
            interimKeys: configuration.encodingBudget > .zero ? request.interim.map(derivedKeys) : nil,
            epoch: resolver.cache.epoch(of: keys.source),
            urgency: urgency, reporter: reporter, mark: mark)
    }

    // MARK: Shutdown

    /// Ends the pixel threads after the jobs that they run; waiting jobs fail with ``PipelineError/cancelled``, and
    /// background work is canceled. Called when the pipeline is released.
    public func shutdown() {
        resolver.background.shutdown()
        resolver.upgrades.shutdown()
        resolver.cache.shutdown()
        resolver.producer.pixels.queue.shutdown()
    }
}

extension Result where Failure == PipelineError, Success: Sendable {
    init(catching operation: () async throws(PipelineError) -> Success) async {
        do throws(PipelineError) {
            self = .success(try await operation())
        } catch {
            self = .failure(error)
        }
    }
}
