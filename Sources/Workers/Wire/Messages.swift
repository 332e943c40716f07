import DarkroomTransforms

/// The first message to a worker.
struct WorkerSetup: Codable, Sendable {
    /// The server's process id.
    var parent: Int32
    /// Whether the sandbox is closed.
    var isIsolated: Bool
    var decodedBytes: Int
    var maxDecodedEntryBytes: Int
    var memoryBytes: Int
    var maxResultBytes: Int
}

/// The first message from a worker: it is ready.
struct WorkerHello: Codable, Sendable {
    /// The layers in force.
    var layers: [IsolationLayer]
}

/// What a worker is asked to do. Each request but `cancel` has one reply, in order.
enum WorkerRequest: Codable, Sendable {
    /// The source comes with it, and the result with the reply.
    case process(WireJob)
    /// The source comes with it.
    case plan(WireJob)
    case removeDecoded(identity: String)
    case shrink(fraction: Double)
    /// The job under way has no use any more. To a worker at work, any message means this.
    case cancel
    /// Tries what it must not be able to do: for tests. What it takes is not given back, so the worker is of no further use.
    case attempt
}

struct WorkerReply: Codable, Sendable {
    enum Outcome: Codable, Sendable {
        case image(WireImage)
        case plan(ImagePlan)
        case failure(ImageProcessingError)
        case done
        /// By attempt, the `errno` of its failure, or 0 where it succeeded.
        case attempts([String: Int32])
    }

    var outcome: Outcome
    /// What the worker's decoded cache holds now, and has done so far.
    var decoded: DecodedStatistics
}
