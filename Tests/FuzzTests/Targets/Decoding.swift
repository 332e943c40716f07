import DarkroomRequests

#if os(Linux)
    import Foundation
    import Logging
    import NIOCore
    import Testing

    @testable import DarkroomTransforms
    @testable import DarkroomWorkers

    extension FuzzTests {
        @Test func `Damaged pictures become pictures or errors, and no worker dies of them`() async throws {
            let site = try await Workers()
            defer { site.processor.stop() }
            let seeds = Pictures.whole(maxBytes: Mutator.maxBytes)
            var round = 0
            fuzzer.run("decoding", bytes: seeds) { input in
                round += 1
                let lost = site.lost
                for format in [OutputFormat.jpeg, Self.outputs[round % Self.outputs.count]] {
                    try site.make(input, OutputOptions(format: format), width: 8 << (round % 5))
                }
                try hold(site.lost == lost, "decoding crashed a worker: \(site.processor.statistics.ended)")
            }
            try site.make(Array(Workers.drawing.utf8), OutputOptions(format: .png), width: 20, isGood: true)
        }

        @Test func `Damaged JPEGs are held by JPEG XL, encoded or refused, and no worker dies of them`() async throws {
            let site = try await Workers()
            defer { site.processor.stop() }
            let seeds = Pictures.whole(named: ["jpg"]).filter { $0.count <= 8_192 }
            let words = [
                "\u{FF}\u{C2}", "\u{FF}\u{C4}", "\u{FF}\u{DA}", "\u{FF}\u{DD}", "\u{FF}\u{D0}", "\u{FF}\0", "\0\0\0\0",
            ]
            let output = OutputOptions(format: .jxl, passthrough: .auto)
            fuzzer.run("transcoding", bytes: seeds, words: words) { input in
                let lost = site.lost
                try site.make(input, output, width: nil, maxPixels: 1 << 18)
                try hold(site.lost == lost, "transcoding crashed a worker: \(site.processor.statistics.ended)")
            }
        }

        private static let outputs: [OutputFormat] = [.webp, .png, .gif, .json]
    }

    /// Sandboxed processes that decode.
    private struct Workers {
        let processor: WorkerImageProcessor

        static let drawing =
            "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='30'><rect width='9' height='9'/></svg>"

        init() async throws {
            var configuration = WorkerConfiguration(workers: 1, jobTimeout: .seconds(120))
            configuration.executable =
                URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
                .deletingLastPathComponent().appendingPathComponent("darkroom").path
            configuration.quarantine = .zero
            processor = try await WorkerImageProcessor(
                configuration, logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() })
        }

        var lost: Int {
            processor.statistics.ended.reduce(0) { $0 + ($1.key == .recycled ? 0 : $1.value) }
        }

        func make(
            _ bytes: [UInt8], _ output: OutputOptions, width: Int?, maxPixels: Int = 4 << 20, isGood: Bool = false
        ) throws {
            var recipe = Recipe()
            recipe.box = Box(width: width, height: nil)
            var job = ImageJob(
                source: ByteBuffer(bytes: bytes), identity: nil, cachesDecoded: false, chain: TransformChain(recipe),
                output: output)
            job.limits.maxSourcePixels = maxPixels
            job.limits.maxAnimationPixels = maxPixels
            switch Result(catching: { () throws(ImageProcessingError) in try processor.process(job) { false } }) {
            case .success(let picture): try hold(picture.body.readableBytes > 0, "an empty picture")
            case .failure(.interrupted): throw Unheld(reason: "it took 20 s")
            case .failure(let error): try hold(!isGood, "a good picture is refused: \(error)")
            }
        }
    }
#endif
