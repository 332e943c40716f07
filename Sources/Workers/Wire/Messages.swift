import DarkroomTransforms

/// The first message to a worker.
struct WorkerSetup: Codable, Sendable {
    /// The server's process id.
    var parent: Int32
    /// Whether the worker enters the sandbox.
    var isIsolated: Bool
    var decodedBytes: Int
    var maxDecodedEntryBytes: Int
    var memoryBytes: Int
    var maxResultBytes: Int
}

/// The first message from a worker, sent when it is ready.
struct WorkerHello: Codable, Sendable {
    /// The sandbox layers in force.
    var layers: [IsolationLayer]
}

/// A request to a worker. Every request except `cancel` has one reply, in order.
enum WorkerRequest: Codable, Sendable {
    /// The source is attached to the request, the result to the reply.
    case process(WireJob)
    /// The source is attached.
    case plan(WireJob)
    case removeDecoded(identity: String)
    case shrink(fraction: Double)
    /// Cancels the running job. A busy worker treats any message as this one.
    case cancel
    /// Tries operations that the sandbox must forbid, for tests. Resources are not released, so the worker must be discarded.
    case probe
}

struct WorkerReply: Codable, Sendable {
    enum Outcome: Codable, Sendable {
        case image(WireImage)
        case plan(ImagePlan)
        case failure(ImageProcessingError)
        case done
        /// `errno` of each probe by name; 0 if the operation succeeded.
        case probes([String: Int32])
    }

    var outcome: Outcome
    /// Statistics of the worker's cache of decoded images.
    var decoded: DecodedStatistics
}
