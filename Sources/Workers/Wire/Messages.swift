import DarkroomMachine
import DarkroomTransforms
import Foundation
import NIOCore

/// The first message to a zygote.
struct WorkerSetup: Codable, Sendable {
    /// The server's process id.
    var parent: Int
    /// Whether workers enter the sandbox.
    var isIsolated: Bool
    var decodedBytes: Int
    var maxDecodedEntryBytes: Int
    var memoryBytes: Int
    var maxResultBytes: Int
    var findsFaces: Bool
}

/// A request to a zygote to fork a worker, whose end of its socket is attached; and the reply to it.
struct WorkerFork: Codable {
    /// In the reply, the process id of the worker, or a negative `errno`. In the first message from a zygote, which
    /// reports that it is ready, and in requests: 0.
    var process = 0
    /// The most names in ``threads``.
    static let maxThreads = 16
    /// In a reply with `-EBUSY`, the names of the threads that kept the zygote from forking.
    var threads: [String] = []

    /// The process id in a reply. Throws the reason if no worker was started.
    func worker() throws(WorkerStartError) -> pid_t {
        let number = pid_t(truncatingIfNeeded: process)
        guard number <= 0 else { return number }
        guard number == -EBUSY else { throw .failed("the zygote could not fork: \(WireError.system(-number))") }
        let names = threads.prefix(Self.maxThreads).map { "'\($0)'" }.joined(separator: ", ")
        throw .failed("the zygote could not fork: a library has started threads in it that do not end: \(names)")
    }
}

/// The first message from a worker, sent when it is ready.
struct WorkerHello: Codable {
    /// The active sandbox layers.
    var layers: [IsolationLayer]
}

/// A request to a worker. Every request except `cancel`, `drop` and `image` has one reply, in order.
enum WorkerRequest: Codable, Equatable {
    /// Keeps the attached bytes as an image that the next `plan`, `process` or `attempt` draws (``ImageJob/images``).
    case image(content: String)
    /// Reads the header of the attached source of an ``EncodedJob`` and keeps both for `go`, until the next job or
    /// `drop`.
    case plan
    /// Processes the job that was planned last.
    case go
    /// Releases the job that was planned last.
    case drop
    /// Processes the attached source of an ``EncodedJob``.
    case process
    /// Processes the attached source of an ``EncodedJob`` if its plan stays within the allowance; else the same as
    /// `plan`.
    case attempt(JobAllowance)
    case removeDecoded(identity: String)
    case shrink(fraction: Double)
    /// Cancels the running job. A busy worker treats any message as a cancellation.
    case cancel
    /// Tries operations that the sandbox must forbid, for tests. Resources are not released, so the worker must be
    /// discarded.
    case probe
}

/// An `ImageJob` as the body of a request: all of it except the bytes of source and images, and without code.
struct EncodedJob: Equatable {
    let bytes: ByteBuffer

    /// Nil if the chain does not come from a recipe, as with custom transforms, or if the job is too long to be sent.
    init?(_ job: ImageJob) {
        guard let bytes = try? WireEncoder.bytes(of: job), bytes.readableBytes <= MessageSocket.maxBodyBytes else {
            return nil
        }
        self.bytes = bytes
    }

    /// The body of a received request.
    init(received bytes: ByteBuffer) { self.bytes = bytes }

    func job(source: SharedBytes, images: [String: SharedBytes] = [:]) throws(WireError) -> ImageJob {
        var unread = bytes
        var job = try WireDecoder.read(ImageJob.self, from: &unread)
        job.sharedSource = source
        job.images = images.mapValues { DrawnImage($0) }
        return job
    }
}

/// A worker's reply to a request, followed by the body of an image that is not attached as sealed memory.
struct WorkerReply: Codable {
    enum Outcome: Codable {
        /// Without its bytes, and unchecked until ``ProcessedImage/isPlausible(for:)``. With the plan, unchecked until
        /// ``ImagePlan/isPlausible``, in the reply to an attempt.
        case image(ProcessedImage, ImagePlan?)
        /// Unchecked until ``ImagePlan/isPlausible``.
        case plan(ImagePlan)
        /// With texts of any length until ``ImageProcessingError/shortened``.
        case failure(ImageProcessingError)
        case done
        case probes([ProbeResult])
    }

    var outcome: Outcome
    /// Statistics of the worker's cache of decoded images.
    var decoded: DecodedStatistics
}

/// The result of an operation that the sandbox must forbid.
struct ProbeResult: Codable, Equatable {
    var name: String
    /// Its `errno`; 0 if the operation succeeded.
    var failure: Int
}
