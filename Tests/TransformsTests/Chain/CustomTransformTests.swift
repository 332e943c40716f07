import DarkroomVips
import Testing

@testable import DarkroomTransforms

/// The example in the documentation of `Transform`.
private struct Pixelate: Transform {
    var block: Int
    var key: String { "pixelate(\(block))" }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mapFrames { frame throws(VipsError) in
            try frame.applying("shrink", ["hshrink": .int(block), "vshrink": .int(block)])
                .applying("zoom", ["xfac": .int(block), "yfac": .int(block)])
        }
    }
}

struct CustomTransformTests {
    @Test func `A custom transform takes fifteen lines`() throws {
        var chain = TransformChain(.box(80, 60))
        chain.transforms.append(Pixelate(block: 10))
        #expect(chain.key.hasSuffix("12:pixelate(10)"))
        let job = ImageJob(
            source: try Fixture.image("formats/photo.jpg"), chain: chain, output: OutputOptions(format: .png))
        let pixels = try Pixels(InProcessImageProcessor().process(job, interrupt: { false }).body)
        #expect(pixels[0, 0] == pixels[9, 9])
        #expect(pixels[0, 0] != pixels[40, 30])
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
