public import Transforms

/// What an `ImagePipeline` may spend. Every default is that of the command line.
public struct PipelineConfiguration: Sendable {
    /// What a picture may ask for.
    public var limits: PixelLimits
    /// Threads that decode, transform and encode; at least 1.
    public var pixelWorkers: Int
    /// Pieces of work that may wait for each of them; what comes beyond is refused at once.
    public var queueDepth: Int
    /// From a request's arrival to its answer.
    public var requestTimeout: Duration
    /// How long an original, and all variants made from it, are used without asking the origin again.
    public var originalMaxAge: Duration

    public init(
        limits: PixelLimits = PixelLimits(), pixelWorkers: Int = 2, queueDepth: Int = 64,
        requestTimeout: Duration = .seconds(30), originalMaxAge: Duration = .seconds(86_400)
    ) {
        self.limits = limits
        self.pixelWorkers = pixelWorkers
        self.queueDepth = queueDepth
        self.requestTimeout = requestTimeout
        self.originalMaxAge = originalMaxAge
    }
}
