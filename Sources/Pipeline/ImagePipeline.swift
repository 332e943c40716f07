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
    let purger: Purger
    /// Nil without a shared tier.
    let follower: PurgeFollower?
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
        let parts = PipelineParts(
            configuration: configuration, origin: origin, memory: memory, disk: disk, shared: shared,
            processing: processing, delegate: delegate, keyFilter: keyFilter, logger: logger, now: now, clock: clock,
            random: random)
        resolver = parts.resolver
        deadlines = parts.deadlines
        purger = parts.purger
        follower = parts.follower
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
        if let follower, follower.isBehind { await follower.poll() }
        let request = resolve(request, reporter: reporter)
        var response: ImageResponse
        if request.lacksMark {
            response = try await imageWithinTimeout(for: request, DiskFindings())
        } else if let found = resolver.imageInMemory(for: request) {
            response = showingMark(found, request)
        } else {
            let (found, findings) = await resolver.imageOnDisk(for: request)
            if let found {
                response = showingMark(found, request)
            } else {
                response = try await imageWithinTimeout(for: request, findings)
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
        for request: ResolvedRequest, _ findings: DiskFindings
    ) async throws(PipelineError) -> ImageResponse {
        var request = request
        let deadline = Deadline()
        request.deadline = deadline
        let number = deadlines.begin(deadline.pass)
        defer { deadlines.end(number) }
        do throws(PipelineError) {
            guard configuration.continuesInBackground else { return try await markedImage(for: request, findings) }
            // An unstructured task is not canceled with the caller's.
            return try await Task { [request] in
                await Result { () async throws(PipelineError) in try await markedImage(for: request, findings) }
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
        return isDueToQueue ? resolver.recordExpiry(after: wait) : .timedOut
    }

    func imageOrFallback(
        for request: ResolvedRequest, _ findings: DiskFindings
    ) async throws(PipelineError) -> ImageResponse {
        do throws(PipelineError) {
            return try await resolver.image(for: request, prior: findings)
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
        func derivedKeys(for output: OutputOptions) -> RequestKeys {
            var other = request
            other.output = output
            return RequestKeys(other, chain: chain, identity: identity, epoch: encoderEpoch)
        }
        let document = request.placeholderOutput
        return ResolvedRequest(
            input: request, chain: chain, keys: keys,
            placeholderKeys: document.details.isEmpty ? nil : derivedKeys(for: document),
            interimKeys: configuration.encodingBudget > .zero ? request.interim.map(derivedKeys) : nil,
            epoch: resolver.caches.epochs.current(of: keys.source),
            urgency: urgency, reporter: reporter, mark: mark)
    }

    // MARK: Shutdown

    /// Ends the pixel threads after the jobs that they run; waiting jobs fail with ``PipelineError/cancelled``, and
    /// background work is canceled. Called when the pipeline is released.
    public func shutdown() {
        resolver.background.shutdown()
        resolver.upgrades.shutdown()
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
