import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

struct PadTests {
    private let sides = Padding(top: 1, right: 2, bottom: 3, left: 4)

    private func padded(_ color: [UInt8], _ change: (inout Recipe) -> Void = { _ in }) throws -> Pixels {
        try Pixels(
            produce(
                Drawing.flat(40, 30, color).png(),
                .with {
                    $0.padding = sides
                    change(&$0)
                }
            ).body)
    }

    @Test func `Space is added on each side, white around an opaque image`() throws {
        let pixels = try padded([10, 120, 60])
        #expect(pixels.size == PixelSize(width: 46, height: 34) && pixels.bands == 3)
        #expect(pixels[3, 10] == [255, 255, 255] && pixels[4, 1] == [10, 120, 60])
        #expect(pixels[10, 0] == [255, 255, 255] && pixels[43, 30] == [10, 120, 60])
        #expect(pixels[44, 10] == [255, 255, 255] && pixels[10, 31] == [255, 255, 255])
    }

    @Test func `Space is transparent around an image with transparency`() throws {
        #expect(try padded([10, 120, 60, 200])[0, 0] == [0, 0, 0, 0])
        #expect(try padded([10, 120, 60]) { $0.mask = .circle }[0, 0] == [0, 0, 0, 0])
    }

    @Test func `A background fills the space once, also a translucent one`() throws {
        #expect(try padded([10, 120, 60]) { $0.background = Color(red: 0, green: 0, blue: 255) }[0, 0] == [0, 0, 255])
        let translucent = try padded([10, 120, 60]) {
            $0.background = Color(red: 0, green: 0, blue: 255, alpha: 100)
        }
        #expect(translucent[0, 0] == [0, 0, 255, 100] && translucent[20, 20] == [10, 120, 60, 255])
    }

    @Test func `Space beyond the limits of a result is refused before anything is decoded`() throws {
        let source = try Drawing.flat(40, 30, [1, 2, 3]).png()
        let recipe = Recipe.with { $0.padding = Padding(31) }
        for limits in [PixelLimits(maxOutputSide: 101), PixelLimits(maxOutputPixels: 102 * 92 - 1)] {
            let thrown = #expect(throws: ImageProcessingError.self) { try produce(source, recipe, limits: limits) }
            let error = try #require(thrown)
            guard case .badParameter(let reason) = error else { throw error }
            #expect(reason.reason.contains("102×92") && reason.reason.contains("pad"))
            let job = ImageJob(source: source, chain: TransformChain(recipe), limits: limits)
            #expect(throws: error) { try InProcessImageProcessor().plan(job) }
        }
        #expect(try produce(source, recipe, limits: PixelLimits(maxOutputSide: 102)).size.width == 102)
    }

    @Test(arguments: [Padding(9), Padding(top: 0, right: 40, bottom: 3, left: 12)])
    func `A result that is scaled down to the limits is within them with its space`(_ padding: Padding) throws {
        let limits = PixelLimits(maxOutputSide: 100, maxOutputPixels: 8000)
        for (width, height) in [(300, 200), (90, 400), (500, 500)] {
            for fit in Fit.allCases {
                let recipe = Recipe.with {
                    $0 = .box(200, 150, fit: fit)
                    $0.scaleDown = true
                    $0.padding = padding
                }
                let result = try produce(Drawing.flat(width, height, [1, 2, 3]).png(), recipe, limits: limits)
                #expect(max(result.size.width, result.size.height) <= 100 && result.size.area <= 8000)
            }
        }
    }

    @Test func `A description of an image that is not resized has its space in true proportion`() throws {
        let source = try Drawing.flat(1600, 800, [200, 30, 30]).jpeg()
        let recipe = Recipe.with { $0.padding = Padding(400) }
        let result = try produce(source, recipe, output: OutputOptions(format: .color))
        #expect(String(buffer: result.body) == "#ffffff")
        #expect(abs(result.size.width * 2 - result.size.height * 3) <= 3)
    }

    @Test func `Every frame of an animation has the space`() throws {
        let source = try Fixture.image("animation/disposal.gif")
        let plain = try produce(source, output: OutputOptions(format: .webp))
        let result = try produce(source, .with { $0.padding = sides }, output: OutputOptions(format: .webp))
        #expect(result.frames == 4)
        #expect(result.size == PixelSize(width: plain.size.width + 6, height: plain.size.height + 4))
    }
}
