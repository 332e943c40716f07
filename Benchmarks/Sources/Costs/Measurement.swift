import DarkroomRequests
import DarkroomTransforms
import DarkroomVips
import Foundation
import NIOCore

/// A job to be measured.
struct Order {
    /// The path of the source.
    var source: String
    /// The path of the mark; nil = none.
    var mark: String?
    var recipe: Recipe
    var output: Outputs.Output

    func job() throws -> ImageJob {
        var job = ImageJob(
            source: try bytes(source), chain: TransformChain(recipe), resampling: recipe.resampling,
            output: output.options, efforts: output.efforts)
        job.mark = try mark.map(bytes)
        // What is measured may take longer than a server permits.
        job.limits.maxProcessingMilliseconds = 1 << 40
        return job
    }

    private func bytes(_ path: String) throws -> ByteBuffer {
        ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}

/// What a job was expected to take, and what it took.
struct Measurement: Codable {
    var predictedMilliseconds: Double
    var predictedBytes: Int
    /// The shortest processor time of all rounds.
    var milliseconds: Double
    /// The growth of resident memory from before the source was read to the peak, in the first round.
    var bytes: Int
    var width: Int
    var height: Int
    var frames: Int

    /// Runs the job, or only plans it if there are no rounds. The codecs are loaded by a tiny job beforehand, as in a
    /// worker that has already worked.
    init(of order: Order, rounds: Int) throws {
        try Self.warmUp(order)
        VipsRuntime.returnFreedPages()
        let before = try ResidentMemory.forgettingPeak()
        let job = try PreparedJob(try order.job()).planned()
        let plan = job.plan
        (predictedMilliseconds, predictedBytes) = (plan.expectedWork, plan.estimatedMemoryBytes)
        (width, height, frames) = (plan.size.width, plan.size.height, plan.frames)
        (milliseconds, bytes) = (0, 0)
        guard rounds > 0 else { return }
        let first = try Self.processed(job)
        bytes = try ResidentMemory.peak() - before
        var shortest = first
        for _ in 1..<max(rounds, 2) where rounds > 1 && first < Self.longMilliseconds {
            shortest = min(shortest, try Self.processed(job))
        }
        milliseconds = shortest
    }

    /// Jobs that take longer than this are measured once: their time varies less.
    private static let longMilliseconds = 3000.0

    /// The milliseconds of one run.
    private static func processed(_ job: PlannedJob) throws -> Double {
        let start = milliseconds
        _ = try InProcessImageProcessor().process(job) { false }
        return milliseconds - start
    }

    private static func warmUp(_ order: Order) throws {
        let folder = URL(fileURLWithPath: order.source).deletingLastPathComponent()
        var tiny = order
        let kind = URL(fileURLWithPath: order.source).pathExtension
        tiny.source = folder.appendingPathComponent("tiny.\(kind)").path
        tiny.mark = nil
        tiny.recipe = Recipe()
        if order.recipe.text != nil { tiny.recipe.text = Text("a", size: 6) }
        _ = try processed(PreparedJob(try tiny.job()).planned())
    }

    /// Time on processors, which other programs on a busy machine cannot stretch as they do the clock's.
    private static var milliseconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }
}

/// The resident memory of this process, in bytes (proc_pid_status(5)).
enum ResidentMemory {
    /// Resets the peak and returns what is resident.
    static func forgettingPeak() throws -> Int {
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        return try value(of: "VmRSS")
    }

    static func peak() throws -> Int { try value(of: "VmHWM") }

    private static func value(of name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        guard let kib = line?.split(separator: " ").dropLast().last.flatMap({ Int($0) }) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return kib * 1024
    }
}
