import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

/// The example in the documentation of `Transform`.
private struct Median: Transform {
    var side: Int
    var key: String { "median(\(side))" }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mapFrames { frame throws(VipsError) in
            try frame.applying(
                "rank", ["width": .int(side), "height": .int(side), "index": .int(side * side / 2)])
        }
    }
}

struct CustomTransformTests {
    @Test func `A custom transform takes fifteen lines`() throws {
        var chain = TransformChain()
        chain.transforms.append(Median(side: 3))
        #expect(chain.key == "9:median(3)")
        let speck = try Drawing.image(9, 9) { x, y in x == 4 && y == 4 ? Drawing.red : Drawing.blue }
        let job = ImageJob(source: try speck.png(), chain: chain, output: OutputOptions(format: .png))
        let pixels = try Pixels(InProcessImageProcessor().process(job, interrupt: { false }).body)
        #expect(pixels.isFlat(Drawing.blue.map(Int.init)))
    }

    @Test func `A transform that throws fails the work as its own fault`() throws {
        struct Broken: Transform {
            struct Bad: Error {}
            var key: String { "broken" }
            func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames { throw Bad() }
        }
        let job = ImageJob(source: try Fixture.image("geometry/1x1.png"), chain: TransformChain([Broken()]))
        let error = #expect(throws: ImageProcessingError.self) {
            try InProcessImageProcessor().process(job, interrupt: { false })
        }
        guard case .transformFailed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
