public import DarkroomHTTPCaching
public import DarkroomMachine
public import DarkroomRequests
public import DarkroomTransforms

/// The limits, resources and caching policy of an ``ImagePipeline``. Every default is the same as on the command line.
public struct PipelineConfiguration: Sendable {
    /// The limits on sources and results.
    public var limits: PixelLimits
    /// How much time encoders spend. They are part of every variant's key.
    public var efforts: EncoderEfforts
    /// Threads that decode, transform and encode; at least 1. Default: one per processor that this process may use.
    public var pixelWorkers: Int
    /// Jobs that may wait for each pixel thread; further work is refused at once. Default: 64.
    public var queueDepth: Int
    /// The memory budget in bytes of all jobs that run at once, as estimated from the sources' headers; at least 1.
    /// A job that needs more than the budget runs alone. Default: a quarter of the memory that this process may use.
    public var memoryBudgetBytes: Int
    /// The time from a request's arrival to its answer. Default: 30 seconds.
    public var requestTimeout: Duration
    /// How long originals, and all variants made from them, are used without revalidation.
    public var freshness: FreshnessPolicy
    /// The time that encoding may take before a request is answered in its ``ImageRequest/interim`` output; zero = all
    /// requests wait. Default: 20 milliseconds.
    public var encodingBudget: Duration
    /// Where images get a label whose source says that a generative model made them. Default: none.
    public var aiLabel: AILabel.Place

    /// Creates a configuration with the command line's defaults.
    public init(
        limits: PixelLimits = PixelLimits(), efforts: EncoderEfforts = EncoderEfforts(), pixelWorkers: Int? = nil,
        queueDepth: Int = 64,
        memoryBudgetBytes: Int = MemoryPressure().usableBytes / 4, requestTimeout: Duration = .seconds(30),
        freshness: FreshnessPolicy = FreshnessPolicy(), encodingBudget: Duration = .milliseconds(20),
        aiLabel: AILabel.Place = .none
    ) {
        self.limits = limits
        self.efforts = efforts
        self.pixelWorkers = pixelWorkers ?? ResourceDefaults.current.pixelWorkers
        self.queueDepth = queueDepth
        self.memoryBudgetBytes = memoryBudgetBytes
        self.requestTimeout = requestTimeout
        self.freshness = freshness
        self.encodingBudget = encodingBudget
        self.aiLabel = aiLabel
    }
}

/// A snapshot of the pixel queue, and how much work it has refused.
public struct PipelineLoad: Sendable {
    /// Jobs that wait for a thread.
    public var waitingCount: Int
    /// The estimated memory of the waiting jobs whose cost is known, in bytes.
    public var waitingBytes: Int
    /// The estimated memory of the running jobs, in bytes.
    public var runningBytes: Int
    /// The memory budget of the running jobs, in bytes.
    public var budgetBytes: Int
    /// Refused jobs since the start, by reason: `full`, `displaced` (a client with fewer waiting jobs took the place),
    /// `too_late` (its deadline would have passed in the queue) and `expired` (it did); and the sum of their waits.
    /// `full` and `too_late` jobs are refused at once.
    public var refusals: [(reason: String, count: Int, waited: Duration)]
}
