import DarkroomRequests
import DarkroomTransforms
import DarkroomVips
import Dispatch
import Foundation
import NIOCore
import Synchronization
import Thumbnail

/// Decode, resize and encode of every JPEG in a folder, in this process, by a number of threads: what the whole service
/// is measured against.
///
/// `floor FOLDER WAY THREADS WIDTH`; WAY is `fast`, `accurate`, `linear` (our own chain) or `thumbnail` (libvips'
/// `vips_thumbnail_buffer`). Prints the wall-clock seconds.
@main
enum Floor {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let threads = Int(arguments[3]), let width = Int(arguments[4]) else {
            FileHandle.standardError.write(
                Data("usage: floor FOLDER fast|accurate|linear|thumbnail THREADS WIDTH\n".utf8))
            exit(64)
        }
        let sources = try jpegs(in: arguments[1])
        let work: @Sendable (ByteBuffer) throws -> Void =
            if let resampling = Resampling(rawValue: arguments[2]) {
                { try ownWay($0, resampling, width: width) }
            } else {
                { try thumbnail($0, width: width) }
            }
        try work(sources[0])
        let seconds = try measure(sources, threads: threads, work)
        print(String(format: "%.4f", seconds))
    }

    private static func jpegs(in folder: String) throws -> [ByteBuffer] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".jpg") && $0 != "large.jpg" }
            .sorted().map {
                ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")))
            }
    }

    private static func measure(
        _ sources: [ByteBuffer], threads: Int, _ work: @escaping @Sendable (ByteBuffer) throws -> Void
    ) throws -> Double {
        let next = Atomic(0)
        let failure = Mutex<(any Error)?>(nil)
        let start = ContinuousClock.now
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            while true {
                let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard index < sources.count else { return }
                do { try work(sources[index]) } catch { failure.withLock { $0 = error } }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return start.duration(to: .now) / .seconds(1)
    }

    private static func ownWay(_ source: ByteBuffer, _ resampling: Resampling, width: Int) throws {
        var recipe = Recipe(resampling: resampling)
        recipe.box = Box(width: width, height: nil)
        let job = ImageJob(
            source: source, chain: TransformChain(recipe), resampling: resampling, output: OutputOptions(format: .jpeg))
        _ = try InProcessImageProcessor().process(job) { false }
    }

    private static func thumbnail(_ source: ByteBuffer, width: Int) throws {
        VipsRuntime.start()
        var encoded = 0
        let failed = source.withUnsafeReadableBytes {
            thumbnail_as_jpeg($0.baseAddress, $0.count, Int32(width), &encoded)
        }
        if failed != 0 { throw CocoaError(.fileReadCorruptFile) }
    }
}
