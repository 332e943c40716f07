import DarkroomRequests
import NIOCore
import Synchronization
import Testing

@testable import DarkroomTransforms

struct PixelLimitsTests {
    @Test(arguments: [
        "bomb.gif", "bomb.jpg", "bomb.png", "bomb.svg", "bomb.tiff", "bomb.webp", "many-pixels.gif",
        "many-pixels.webp", "tall.svg",
    ])
    func `A decompression bomb is refused before a pixel is decoded`(_ name: String) throws {
        let asked = Mutex(0)
        let job = ImageJob(
            source: try Fixture.image("hostile/\(name)"), chain: TransformChain(.box(16)),
            output: OutputOptions(format: .webp))
        let error = #expect(throws: ImageProcessingError.self) {
            try InProcessImageProcessor().process(job) {
                asked.withLock { $0 += 1 }
                return false
            }
        }
        switch error {
        case .tooLarge: break
        case .unsupported where Fixture.expectedOfThisLibvips["hostile/\(name)"] == "unsupported": break
        default: Issue.record("\(String(describing: error))")
        }
        #expect(asked.withLock(\.self) == 0)
    }

    @Test(arguments: ["many-pixels.gif", "many-pixels.webp"])
    func `An animation over the limits is accepted with n=1, and with what the errors suggest`(_ name: String) throws {
        let source = try Fixture.image("hostile/\(name)")
        #expect(try produce(source, output: OutputOptions(format: .webp), pages: PageSelection(count: 1)).frames == 1)
        for format in [OutputFormat.webp, .gif] {
            // A limit of pixels comes first, then the time of what is left.
            var counts = [try #require(advice(source, PageSelection(), format))]
            while counts.count < 3, let next = advice(source, PageSelection(count: counts.last), format) {
                counts.append(next)
            }
            #expect(advice(source, PageSelection(count: counts.last), format) == nil, "\(format) \(counts)")
        }
    }

    /// The number of frames that a refusal suggests; nil = the plan is accepted.
    private func advice(_ source: ByteBuffer, _ pages: PageSelection, _ format: OutputFormat) -> Int? {
        let job = ImageJob(
            source: source, pages: pages, chain: TransformChain([]), output: OutputOptions(format: format))
        do {
            _ = try InProcessImageProcessor().plan(job)
            return nil
        } catch {
            return String(describing: error).firstMatch(of: /n=([0-9]+)/).flatMap { Int($0.1) } ?? 0
        }
    }

    @Test func `The number of frames alone refuses nothing, unless a limit is set`() throws {
        let source = try Fixture.image("hostile/many-frames.gif")
        let webp = OutputOptions(format: .webp)
        #expect(try produce(source, output: webp).frames == 300)
        let error = #expect(throws: ImageProcessingError.self) {
            try produce(source, output: webp, limits: PixelLimits(maxFrames: 256))
        }
        #expect(String(describing: error).contains("n=256&pick=even"))
    }

    @Test(arguments: [OutputFormat.gif, .webp])
    func `An animation that takes too long is accepted with the number of frames that the error names`(
        _ format: OutputFormat
    ) throws {
        let source = try Fixture.image("hostile/many-frames.gif")
        let limits = PixelLimits(maxProcessingMilliseconds: 50)
        let error = #expect(throws: ImageProcessingError.self) {
            try produce(source, output: OutputOptions(format: format), limits: limits)
        }
        let advice = try #require(String(describing: error).firstMatch(of: /n=([0-9]+)&pick=even/))
        let count = try #require(Int(advice.1))
        let pages = PageSelection(count: count, isThinned: true)
        let result = try produce(source, output: OutputOptions(format: format), pages: pages, limits: limits)
        #expect(result.frames == count && count > 20)
    }

    @Test func `Limits are exact to the pixel`() throws {
        let source = try Fixture.image("geometry/grid.png")
        #expect(try produce(source, limits: PixelLimits(maxSourcePixels: 1003 * 669)).size.width == 1003)
        #expect(throws: ImageProcessingError.self) {
            try produce(source, limits: PixelLimits(maxSourcePixels: 1003 * 669 - 1))
        }
    }

    @Test func `A result over the limits is a bad parameter`() throws {
        let source = try Fixture.image("geometry/1x1.png")
        let recipes: [Recipe] = [
            .box(300, enlarge: true), .box(300, 300, fit: .contain), .box(200, 200, fit: .fill, enlarge: true),
        ]
        for recipe in recipes {
            let error = #expect(throws: ImageProcessingError.self) {
                try produce(source, recipe, limits: PixelLimits(maxOutputSide: 256, maxOutputPixels: 10_000))
            }
            guard case .badParameter(let reason) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.parameter == "w")
        }
    }

    @Test func `An intermediate raster is limited too`() throws {
        let error = #expect(throws: ImageProcessingError.self) {
            try produce(
                Fixture.image("geometry/1x1000.jpg"), .box(200, 10, fit: .cover, enlarge: true),
                limits: PixelLimits(maxOutputPixels: 100_000))
        }
        guard case .badParameter = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [
        Recipe.with { $0.blur = Blur(sigma: 2) }, Recipe.with { $0.rotationDegrees = 90 },
        Recipe.with {
            $0.fit = .cover
            $0.position = .attention
        },
    ])
    func `An intermediate raster is limited too where it follows from a trimmed size`(_ change: Recipe) throws {
        let line = try Drawing.image(400, 400) { x, _ in (100..<104).contains(x) ? [0, 0, 0] : [255, 255, 255] }
        var recipe = change
        recipe.trim = Trim(threshold: 10)
        recipe.box = Box(width: 200, height: 200)
        recipe.enlarge = true
        if recipe.fit == .inside { recipe.fit = .outside }
        let error = #expect(throws: ImageProcessingError.self) {
            try produce(line.png(), recipe, limits: PixelLimits(maxOutputPixels: 1_000_000))
        }
        guard case .badParameter(let refused) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refused.parameter == "w" && refused.reason.contains("200×20000 pixels on the way"))
    }

    @Test(arguments: [
        ("geometry/1x1.png", nil, OutputOptions(format: .webp, lossless: true), "ll"),
        ("geometry/1x1.png", nil, OutputOptions(format: .avif), "w"),
        ("geometry/1x1.png", nil, OutputOptions(format: .avif, maxBytes: 1000), "max_bytes"),
        ("animation/disposal.gif", 4, OutputOptions(format: .webp), "n"),
    ])
    func `Work that is expected to take too long is refused with the parameter that shortens it`(
        name: String, frames: Int?, output: OutputOptions, parameter: String
    ) throws {
        let asked = Mutex(0)
        let job = ImageJob(
            source: try Fixture.image(name), pages: PageSelection(count: frames),
            chain: TransformChain(.box(3000, enlarge: true)), output: output,
            limits: PixelLimits(maxProcessingMilliseconds: 500))
        let error = #expect(throws: ImageProcessingError.self) {
            try InProcessImageProcessor().process(job) {
                asked.withLock { $0 += 1 }
                return false
            }
        }
        guard case .badParameter(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.parameter == parameter)
        #expect(reason.reason.contains("at most 0.5 s"))
        #expect(asked.withLock(\.self) == 0)
    }

    @Test func `A source that takes too long to decode is too large, whatever is requested of it`() throws {
        let error = #expect(throws: ImageProcessingError.self) {
            try produce(Fixture.image("sample.jpg"), .box(16), limits: PixelLimits(maxProcessingMilliseconds: 1))
        }
        guard case .tooLarge = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
