public import DarkroomHTTPCaching
public import DarkroomMachine
public import DarkroomTransforms

/// What an `ImagePipeline` may spend, and how it caches. Every default is that of the command line.
public struct PipelineConfiguration: Sendable {
    /// What a picture may ask for.
    public var limits: PixelLimits
    /// Threads that decode, transform and encode; at least 1.
    public var pixelWorkers: Int
    /// Pieces of work that may wait for each of them; what comes beyond is refused at once.
    public var queueDepth: Int
    /// Memory that all pictures in work may take together, in bytes, as far as their headers foretell it; at least 1. A picture that
    /// takes more is worked on alone.
    public var memoryBudgetBytes: Int
    /// From a request's arrival to its answer.
    public var requestTimeout: Duration
    /// How long originals, and all variants made from them, are used without asking the origin again.
    public var freshness: FreshnessPolicy
    /// Whether work that nobody waits for any more is finished and kept (SDWebImage's `continueInBackground`).
    public var continuesInBackground: Bool

    /// The defaults of the command line unless said otherwise: 2 threads, 64 pieces of work waiting for each, a quarter of the
    /// memory that this process may use, 30 seconds.
    public init(
        limits: PixelLimits = PixelLimits(), pixelWorkers: Int = 2, queueDepth: Int = 64,
        memoryBudgetBytes: Int = MemoryPressure().usableBytes / 4, requestTimeout: Duration = .seconds(30),
        freshness: FreshnessPolicy = FreshnessPolicy(),
        continuesInBackground: Bool = false
    ) {
        self.limits = limits
        self.pixelWorkers = pixelWorkers
        self.queueDepth = queueDepth
        self.memoryBudgetBytes = memoryBudgetBytes
        self.requestTimeout = requestTimeout
        self.freshness = freshness
        self.continuesInBackground = continuesInBackground
    }
}
