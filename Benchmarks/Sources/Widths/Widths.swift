import DarkroomRequests
import DarkroomTransforms
import DarkroomVips
import Foundation
import NIOCore

/// What the further widths of one image cost against its first, with and without the cache of decoded images.
///
/// `widths FOLDER ROUNDS`: four photographs of the folder become one source of 12 megapixels, which is then asked for
/// in the eight widths of a usual `srcset`, rising and falling, on one thread. The cache keeps from the second width
/// on, as the service does.
@main
enum Widths {
    static let ladder = [320, 480, 640, 768, 960, 1280, 1600, 1920]

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let rounds = Int(arguments[2]), rounds > 0 else {
            FileHandle.standardError.write(Data("usage: widths FOLDER ROUNDS\n".utf8))
            exit(64)
        }
        let mosaic = try mosaic(of: arguments[1])
        print(
            "12 MP to JPEG, fast profile; processor ms of the first width and of each further one, median of \(rounds) rounds"
        )
        let sources: [(String, VipsSaver, KeyValuePairs<String, VipsValue>)] = [
            ("JPEG", .jpeg, ["Q": 88]), ("PNG", .png, ["compression": 6]), ("WebP", .webp, ["Q": 80]),
        ]
        for (name, saver, options) in sources {
            let source = try saver.encode(mosaic, options)
            for (order, widths) in [("rising", ladder), ("falling", ladder.reversed())] {
                try compare("\(name) \(order)", source, widths, rounds: rounds)
            }
        }
    }

    /// Processor milliseconds of one run.
    private struct Cost {
        /// The first width.
        var first: Double
        /// Each further width.
        var further: Double
        /// Each further width once all decodes are cached: resampling and encoding alone.
        var resampling: Double
    }

    /// Runs with and without the cache take turns, so that a drifting machine hits both alike.
    private static func compare(_ name: String, _ source: ByteBuffer, _ widths: [Int], rounds: Int) throws {
        var costs: [Bool: [Cost]] = [:]
        for _ in 0..<rounds {
            for keeps in [false, true] { costs[keeps, default: []].append(try run(source, widths, keeps: keeps)) }
        }
        func middle(_ keeps: Bool, _ part: KeyPath<Cost, Double>) -> Double {
            median(costs[keeps, default: []].map { $0[keyPath: part] })
        }
        for keeps in [false, true] {
            let (first, further) = (middle(keeps, \.first), middle(keeps, \.further))
            print(
                String(
                    format: "  %@ cache %@  first %7.1f  widths 2…8 %7.1f each  further / first %.2f  / uncached %.2f",
                    name.padding(toLength: 13, withPad: " ", startingAt: 0), keeps ? "on " : "off", first, further,
                    further / first, further / middle(false, \.further)))
        }
        let least = middle(true, \.resampling)
        print(
            String(
                format: "  %@ all decodes cached          %7.1f each                        / uncached %.2f",
                name.padding(toLength: 13, withPad: " ", startingAt: 0), least, least / middle(false, \.further)))
    }

    private static func run(_ source: ByteBuffer, _ widths: [Int], keeps: Bool) throws -> Cost {
        let processor = InProcessImageProcessor(decoded: DecodedCache(budgetBytes: keeps ? 256 << 20 : 0))
        func ladder() throws -> [Double] {
            try widths.enumerated().map { index, width in
                var recipe = Recipe()
                recipe.box = Box(width: width, height: nil)
                let job = ImageJob(
                    source: source, identity: "source", cachesDecoded: index > 0, chain: TransformChain(recipe),
                    output: OutputOptions(format: .jpeg))
                let start = processMilliseconds
                _ = try processor.process(job) { false }
                return processMilliseconds - start
            }
        }
        func further(_ costs: [Double]) -> Double { costs.dropFirst().reduce(0, +) / Double(costs.count - 1) }
        let costs = try ladder()
        return Cost(first: costs[0], further: further(costs), resampling: keeps ? further(try ladder()) : 0)
    }

    /// Time on processors, which other programs on a busy machine cannot stretch as they do the clock's.
    private static var processMilliseconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    /// 4000×3000 pixels of real photographs.
    private static func mosaic(of folder: String) throws -> VipsImage {
        var recipe = Recipe()
        recipe.box = Box(width: 2000, height: 1500)
        recipe.fit = .cover
        recipe.enlarge = true
        let tiles = try ["001", "002", "003", "004"].map { name in
            let file = URL(fileURLWithPath: "\(folder)/\(name).jpg")
            let job = ImageJob(
                source: ByteBuffer(bytes: try Data(contentsOf: file)), chain: TransformChain(recipe),
                output: OutputOptions(format: .png))
            let tile = try InProcessImageProcessor().process(job) { false }.body
            return try VipsLoader.png.withImage(of: tile) { lazy throws(VipsError) in try lazy.rendered() }
        }
        // All of them are in memory, so libvips' `arrayjoin` is safe here.
        return try VipsImage.build("arrayjoin", ["in": .images(tiles), "across": 2]).rendered()
    }
}
