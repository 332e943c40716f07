import DarkroomMachine
import DarkroomRequests
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

// A worker may be compromised: every value that it sends is checked before it is used.

extension ProcessedImage {
    /// Whether the values are possible for the job.
    func isPlausible(for job: ImageJob) -> Bool {
        let numbers = [size.width, size.height, frames]
        let durations = [stages?.decode, stages?.transform, stages?.encode, stages?.compare].compactMap { $0 }
        return numbers.allSatisfy((1...SourceHeader.maxSide).contains) && job.output.permits(format)
            && (quality?.isSource != true || job.output.mayKeepPixels(of: sourceFormat))
            && (0...9).contains(effort ?? 0)
            && (!isDamaged || job.output.damaged == .show && !isProven)
            && gaps.isSubset(of: sourceFormat.isVector ? .all : [])
            && (0...FaceDetector.maxFaces).contains(faces ?? 0)
            && durations.allSatisfy((.zero...Self.maxDuration).contains)
    }

    /// A day, which no job takes.
    private static let maxDuration = Duration.seconds(86_400)
}

extension ImagePlan {
    /// Whether the values are possible, and arithmetic on them cannot overflow an `Int`.
    var isPlausible: Bool {
        let sizes = [sourceSize, size, largest] + steps.map(\.size) + faceSearches.map(\.size)
        let numbers = [sourceFrames, sourceBytes, framesUsed, frames, estimatedMemoryBytes]
        return steps.count <= WireEncoder.maxListCount && steps.allSatisfy { $0.name.utf8.count <= 64 }
            && shrinkOnLoad.isFinite && (0...9).contains(effort ?? 0) && (0...1e18).contains(expectedWork)
            && (0...1e18).contains(choiceWork) && (0...1e18).contains(webPChoiceWork ?? 0)
            && (0...1e18).contains(encodingWork)
            && faceSearches.count <= WireEncoder.maxListCount
            && faceSearches.allSatisfy { (0...1e18).contains($0.work) }
            && gaps.isSubset(of: .all)
            && sizes.flatMap { [$0.width, $0.height] }.allSatisfy((0...SourceHeader.maxSide).contains)
            && numbers.allSatisfy((0...1 << 60).contains)
    }
}

extension DecodedStatistics {
    /// Whether sums of such numbers fit in an `Int`.
    var isPlausible: Bool { [entries, bytes, hits, misses].allSatisfy((0...1 << 40).contains) }
}

extension ImageProcessingError {
    /// Maximum length of a text in characters.
    private static let maxCharacters = 1000

    /// The error with texts cut to 1,000 characters, and further if these are long in UTF-8.
    var shortened: ImageProcessingError {
        switch self {
        case .unsupported, .missingDecoder, .outdatedDecoder, .interrupted: self
        case .corrupt(let text): .corrupt(Self.cut(text))
        case .tooLarge(let text): .tooLarge(Self.cut(text))
        case .badParameter(let error):
            .badParameter(TransformError(parameter: Self.cut(error.parameter), reason: Self.cut(error.reason)))
        case .transformFailed(let text): .transformFailed(Self.cut(text))
        case .encodingFailed(let text): .encodingFailed(Self.cut(text))
        case .mark(let error, let name): .mark(error.shortened, name: Self.cut(name))
        }
    }

    private static func cut(_ text: String) -> String {
        let cut = String(text.prefix(maxCharacters))
        guard cut.utf8.count > WireEncoder.maxTextBytes else { return cut }
        return String(String.UnicodeScalarView(cut.unicodeScalars.prefix(WireEncoder.maxTextBytes / 4)))
    }
}
