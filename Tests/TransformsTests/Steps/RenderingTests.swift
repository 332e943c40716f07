import DarkroomRequests
import DarkroomVips
import NIOCore
import Synchronization
import Testing

@testable import DarkroomTransforms

/// Steps compute what they read once, however often they read it, and pictures stay the same.
struct RenderingTests {
    /// Notes whether the image that it gets is in memory.
    private final class Probe: Transform {
        let reading: InputReading
        let isRendered = Mutex<Bool?>(nil)
        var key: String { "probe" }

        init(_ reading: InputReading) { self.reading = reading }

        func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

        func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
            isRendered.withLock { $0 = image.first.isRendered }
            return image
        }
    }

    private let opaque: ImageFrames
    private let translucent: ImageFrames

    init() throws {
        opaque = ImageFrames(frames: [try Drawing.image(40, 50) { x, y in [UInt8(x * 5), UInt8(y * 4), 90] }])
        translucent = ImageFrames(
            frames: [try Drawing.image(40, 50) { x, y in [UInt8(x * 5), UInt8(y * 4), 90, UInt8(x * 3 + y * 2)] }])
    }

    private func chained(_ steps: [any Transform], _ image: ImageFrames) throws -> VipsImage {
        try TransformChain(steps).apply(to: image, start: ChainPlan(source: image.size)) { false }.first
    }

    /// The steps one by one, each on a lazy image.
    private func lazily(_ steps: [any Transform], _ image: ImageFrames) throws -> VipsImage {
        var (image, plan) = (image, ChainPlan(source: image.size))
        for step in steps {
            plan = try step.planned(plan)
            image = try step.apply(image, context: TransformContext(plan: plan) { false })
        }
        return image.first
    }

    @Test(arguments: [
        (InputReading.once, false, false), (.repeatedly, true, true), (.colorApart, false, true),
    ])
    func `A step gets a computed image if it reads it more than once`(
        _ reading: InputReading, opaqueIsRendered: Bool, translucentIsRendered: Bool
    ) throws {
        for (image, isRendered) in [(opaque, opaqueIsRendered), (translucent, translucentIsRendered)] {
            let probe = Probe(reading)
            _ = try chained([Flip(), probe], image)
            #expect(probe.isRendered.withLock(\.self) == isRendered)
        }
    }

    @Test func `Steps that read rows repeatedly say so`() {
        let steps: [any Transform] = [
            Blur(sigma: 3), Sharpen(sigma: 1), Rotate(degrees: 90), Rotate(degrees: 270), Mark(), Text("a"),
            Trim(threshold: 9), Scale(50),
        ]
        #expect(steps.allSatisfy { $0.reading == .repeatedly })
        // A wide blur reads rows once, and renders what it makes of them.
        #expect([Blur(sigma: 50), Blur()].allSatisfy { $0.reading == .once })
        #expect(Rotate(degrees: 180).reading == .once && Rotate(degrees: 30).reading == .once)
    }

    private static let colorSteps: [any Transform] = [
        Contrast(percent: 20), Saturation(factor: 2), Hue(degrees: 30), Sharpen(), Filter.sepia, Brightness(percent: 4),
        Lightness(factor: 0.9), Gamma(exponent: 1.2), Tint(.black), Duotone(shadow: .black, highlight: .white),
        Filter.greyscale, Filter.bitonal, Filter.negate,
    ]

    @Test func `Color steps one after the other take alpha apart once`() throws {
        #expect(Self.colorSteps.allSatisfy { $0.reading == .colorApart })
        let first = try chained([Self.colorSteps[0]], translucent)
        let alpha = try first.band(3)
        var image = ImageFrames(frames: [first])
        for step in Self.colorSteps {
            image = try step.apply(image, context: TransformContext(plan: ChainPlan(source: image.size)) { false })
            // The very same image, which no step computes again.
            #expect(try image.first.band(3) === alpha, "\(step.key)")
        }
    }

    @Test func `A chain makes the same pixels as its steps one by one`() throws {
        let chains: [[any Transform]] = [
            Array(Self.colorSteps.prefix(9)), [Flip(), Self.colorSteps[2], Blur(sigma: 2), Sharpen(sigma: 1)],
            [Brightness(percent: 9), Rotate(degrees: 90), Blur(sigma: 2)], [Hue(degrees: 9), Blur(sigma: 12)],
            [Hue(degrees: 9), Mask(outline: .shape(.circle)), Rendering(), Flop()],
        ]
        for steps in chains {
            for image in [opaque, translucent] {
                let (chain, single) = (try chained(steps, image), try lazily(steps, image))
                #expect(try chain.samples() == single.samples(), "\(steps.map(\.key))")
                #expect(chain.interpretation == single.interpretation && chain.bands == single.bands)
            }
        }
    }

    @Test func `Luminance as red, green and blue is what libvips makes of it`() throws {
        let tones = try Drawing.image(256, 1) { x, _ in [UInt8(x), UInt8(255 - x), UInt8(x / 2)] }
        let gray = try tones.applying("colourspace", ["space": "b-w"])
        #expect(
            try tones.grayscale(through: VipsImage.grays).samples()
                == gray.applying("colourspace", ["space": "srgb"]).samples())
        for gray in [gray, try gray.addingAlpha()] {
            let converted = try gray.convertedToSRGB()
            #expect(try converted.samples() == gray.applying("colourspace", ["space": "srgb"]).samples())
            #expect(converted.interpretation == "srgb" && converted.bands == gray.bands + 2)
        }
    }

    @Test func `What is described is computed before it is reduced`() throws {
        let chain = TransformChain([Blur(sigma: 3), Pad(Padding(200))])
        var job = ImageJob(
            source: try Fixture.image("formats/photo.jpg"), chain: chain, output: OutputOptions(format: .blurHash))
        let prepared = ImageDescriber.preparing(job)
        let keys = prepared.chain.transforms.suffix(2).map(\.key)
        #expect(keys[0] == "rendering" && keys[1].hasPrefix("resize("))
        // The plan counts the memory.
        let plan = try PreparedJob(job).plan()
        job.chain.transforms.removeAll { $0 is Pad }
        let smaller = try PreparedJob(job).plan()
        let pixels = plan.largest.area
        #expect(plan.estimatedMemoryBytes - smaller.estimatedMemoryBytes > pixels * 3 / 2)
    }

    @Test func `The memory of a computed image is part of a chain's cost`() {
        let size = PixelSize(width: 100, height: 100)
        func cost(_ steps: [any Transform]) -> TransformCost {
            TransformChain(steps).cost(at: Array(repeating: size, count: steps.count + 1))
        }
        let apart = cost([Flip(), Blur(sigma: 3)])
        #expect(apart.bytesPerPixel == cost([Blur(sigma: 3)]).bytesPerPixel + 3)
        #expect(apart.bytesPerPixelWithAlpha == cost([Blur(sigma: 3)]).bytesPerPixelWithAlpha + 4)
        // Color steps in a row compute it once.
        #expect(cost([Flip(), Hue(degrees: 1)]).bytesPerPixelWithAlpha == 4)
        #expect(cost([Flip(), Hue(degrees: 1), Hue(degrees: 2)]).bytesPerPixelWithAlpha == 4)
    }
}
