import DarkroomMachine
import DarkroomRequests
import DarkroomTransforms
import NIOCore
import Testing

@testable import DarkroomWorkers

/// Jobs with a second input.
@Suite(.timeLimit(.minutes(5)), .enabled(if: WorkerSite.isSupported))
struct MarkJobTests {
    private func flat(_ width: Int, _ height: Int, _ color: String) -> ByteBuffer {
        ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)">
                <rect width="\(width)" height="\(height)" fill="\(color)"/></svg>
                """)
    }

    private func job(mark: ByteBuffer?, _ placement: Mark, identity: String? = "a") throws -> ImageJob {
        var recipe = Recipe()
        recipe.mark = placement
        var job = ImageJob(
            source: flat(90, 60, "blue"), identity: identity, chain: TransformChain(recipe),
            output: OutputOptions(format: .png))
        job.mark = mark
        return job
    }

    @Test func `A mark is the same on the other side`() throws {
        var mark = Mark(
            width: .percent(12.5), height: .pixels(3), anchor: nil, x: .pixels(-4), y: .percent(-1), opacity: 7,
            blend: .screen)
        mark.content = String(repeating: "a", count: 64)
        #expect(try Mark.decoding(mark.encoded) == mark)
        for error in [ImageProcessingError.corrupt("a"), .unsupported, .tooLarge("b")] {
            #expect(try ImageProcessingError.decoding(ImageProcessingError.mark(error).encoded) == .mark(error))
        }
    }

    @Test func `A worker makes the same pixels as this process`() async throws {
        let site = try await WorkerSite()
        let mark = flat(20, 10, "red")
        for placement in [
            Mark(), Mark(width: .percent(30), anchor: .center, opacity: 40, blend: .multiply),
            Mark(anchor: nil, x: .pixels(3)),
        ] {
            let job = try job(mark: mark, placement)
            let image = try site.processor.process(job) { false }
            #expect(try image.body == InProcessImageProcessor().process(job) { false }.body)
            // Planned first, as the pipeline does: the worker keeps both inputs.
            #expect(try site.processor.plan(job) { false } == InProcessImageProcessor().plan(job) { false })
            #expect(try site.processor.process(job) { false }.body == image.body)
        }
    }

    @Test func `Several images reach the worker, each under its content`() async throws {
        let site = try await WorkerSite()
        var recipe = Recipe()
        recipe.layers = ["x", "y"].map { content in
            var picture = Picture()
            picture.content = content
            return Layer(content, .picture(picture), x: Place(content == "x" ? .start : .end))
        }
        var job = ImageJob(
            source: flat(90, 60, "blue"), identity: "a", chain: TransformChain(recipe),
            output: OutputOptions(format: .png))
        job.images = [
            "x": DrawnImage(SharedBytes(flat(20, 10, "red"))), "y": DrawnImage(SharedBytes(flat(20, 30, "lime"))),
        ]
        let made = try site.processor.process(job) { false }
        #expect(try made.body == InProcessImageProcessor().process(job) { false }.body)
        job.images["y"] = DrawnImage(SharedBytes(ByteBuffer(string: "no image")))
        #expect(throws: ImageProcessingError.mark(.unsupported, name: "y")) {
            try site.processor.process(job) { false }
        }
    }

    @Test func `A mark belongs to one job only`() async throws {
        let site = try await WorkerSite()
        let withMark = try job(mark: flat(20, 10, "red"), Mark())
        _ = try site.processor.process(withMark) { false }
        let error = ImageProcessingError.transformFailed("the job has no bytes for its mark")
        #expect(throws: error) { try site.processor.process(job(mark: nil, Mark())) { false } }
        #expect(throws: ImageProcessingError.mark(.unsupported)) {
            try site.processor.process(job(mark: ByteBuffer(string: "no image"), Mark())) { false }
        }
        _ = try site.processor.process(withMark) { false }
    }

    @Test func `A crash with a mark blames the work, since the source may be innocent`() async throws {
        let site = try await WorkerSite(script: "hello; take; take; exit 3")
        let withMark = try job(mark: flat(20, 10, "red"), Mark())
        #expect(throws: ImageProcessingError.self) { try site.processor.process(withMark) { false } }
        #expect(site.pool.quarantineError(for: withMark) != nil)
        var alone = withMark
        (alone.chain, alone.mark) = (TransformChain(Recipe()), nil)
        #expect(site.pool.quarantineError(for: alone) == nil)
    }
}
