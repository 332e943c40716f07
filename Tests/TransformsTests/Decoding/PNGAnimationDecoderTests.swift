import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// The rules of PNG, third edition, §11.3.6.2.
struct PNGAnimationDecoderTests {
    private typealias Frame = AnimatedPNG.Frame

    private static let red: [UInt8] = [200, 0, 0, 255]
    private static let green: [UInt8] = [0, 200, 0, 255]
    private static let blue: [UInt8] = [0, 0, 200, 255]
    private static let clear = [0, 0, 0, 0]

    /// Red on the whole canvas, green on its left upper quarter, blue on the pixel in the right lower corner.
    private static func animation(_ disposal: PNGAnimation.Disposal, first: PNGAnimation.Disposal = .none) -> [Frame] {
        [
            Frame(color: red, disposal: first), Frame(side: 2, color: green, disposal: disposal),
            Frame(x: 3, y: 3, side: 1, color: blue),
        ]
    }

    /// The colors of two pixels in each frame: in the left upper corner, and in the right lower one.
    private static let table: [(frames: [Frame], corners: [[[Int]]])] = [
        (animation(.none), [[r, r], [g, r], [g, b]]), (animation(.background), [[r, r], [g, r], [clear, b]]),
        (animation(.previous), [[r, r], [g, r], [r, b]]),
        (animation(.none, first: .background), [[r, r], [g, clear], [g, b]]),
        // There is nothing before the first frame.
        (animation(.none, first: .previous), [[r, r], [g, clear], [g, b]]),
        (animation(.previous, first: .background), [[r, r], [g, clear], [clear, b]]),
    ]
    private static let (r, g, b) = ([200, 0, 0, 255], [0, 200, 0, 255], [0, 0, 200, 255])

    private func frame(_ number: Int, of file: ByteBuffer) throws -> Pixels {
        try Pixels(
            produce(
                file, output: OutputOptions(format: .png), pages: PageSelection(first: number + 1, count: 1)
            ).body)
    }

    @Test(arguments: table.indices, [nil, blue])
    func `Areas stay, are cleared, or are restored`(row: Int, hidden: [UInt8]?) throws {
        let (frames, corners) = Self.table[row]
        let file = try AnimatedPNG(frames: frames, hidden: hidden).file().bytes
        for (number, expected) in corners.enumerated() {
            let pixels = try frame(number, of: file)
            #expect(pixels[0, 0] == expected[0] && pixels[3, 3] == expected[1], "frame \(number)")
        }
        // All at once, in a file of another format.
        let all = try produce(file, output: OutputOptions(format: .webp, lossless: true)).body
        for (number, expected) in corners.enumerated() {
            let pixels = try Pixels(all, frame: number)
            let found = [pixels[0, 0], pixels[3, 3]].map { $0.count == 3 ? $0 + [255] : $0 }
            #expect(found == expected, "frame \(number) of all")
        }
    }

    private static let blends: [(PNGAnimation.Blending, [UInt8], [Int])] = [
        (.source, [0, 200, 0, 0], [0, 200, 0, 0]), (.source, [0, 200, 0, 128], [0, 200, 0, 128]),
        (.over, [0, 200, 0, 0], [200, 0, 0, 255]), (.over, [0, 200, 0, 255], [0, 200, 0, 255]),
        (.over, [0, 200, 0, 128], [100, 100, 0, 255]),
    ]

    @Test(arguments: blends)
    func `Pixels replace others, or are drawn over them`(
        _ blending: PNGAnimation.Blending, _ color: [UInt8], _ expected: [Int]
    ) throws {
        for is16Bit in [false, true] {
            let file = try AnimatedPNG(
                frames: [Frame(color: Self.red), Frame(color: color, blending: blending)], is16Bit: is16Bit
            ).file().bytes
            let found = try frame(1, of: file)
            #expect(found.distance(x: 1, y: 1, to: expected) <= (expected[3] == 0 ? 200 : 1), "\(found[1, 1])")
        }
    }

    @Test func `Half transparent pixels over transparent ones keep color and alpha`() throws {
        let half: [UInt8] = [0, 200, 0, 128]
        let file = try AnimatedPNG(
            frames: [
                Frame(color: [0, 0, 0, 0]), Frame(color: half, blending: .over), Frame(color: half, blending: .over),
            ]
        ).file().bytes
        #expect(try frame(1, of: file).distance(x: 1, y: 1, to: [0, 200, 0, 128]) <= 1)
        #expect(try frame(2, of: file).distance(x: 1, y: 1, to: [0, 200, 0, 192]) <= 1)
    }

    @Test func `The color space of the file applies to all frames`() throws {
        let gray: [UInt8] = [128, 128, 128, 255]
        var file = try AnimatedPNG(frames: [Frame(color: gray), Frame(side: 2, color: gray)]).file()
        // A gamma of 1.
        file.insert("gAMA", [0, 1, 0x86, 0xA0], before: "acTL")
        for number in 0...1 { #expect(try frame(number, of: file.bytes)[1, 1].prefix(3) == [188, 188, 188]) }
    }

    @Test func `A default image outside of the animation is not shown`() throws {
        let file = try AnimatedPNG(frames: [Frame(color: Self.red)], hidden: Self.blue).file().bytes
        #expect(try Pixels(produce(file).body)[1, 1].prefix(3) == [200, 0, 0])
        // A first frame need not cover the canvas.
        let small = try AnimatedPNG(
            frames: [Frame(x: 1, y: 1, side: 2, color: [200, 0, 0])], hidden: [0, 0, 200]
        ).file().bytes
        let pixels = try Pixels(produce(small).body)
        #expect(pixels[0, 0] == Self.clear && pixels[1, 1] == Self.r)
        #expect(try SourceHeader(of: small).hasAlpha)
    }

    @Test func `Delays and plays reach the result, and a still format gets the first frame`() throws {
        let frames = [
            Frame(color: Self.red, delay: (3, 10)), Frame(color: Self.green, delay: (0, 1)),
            Frame(color: Self.blue, delay: (1, 50)),
        ]
        let file = try AnimatedPNG(frames: frames, plays: 5).file().bytes
        for format in [OutputFormat.webp, .gif] {
            let result = try produce(file, output: OutputOptions(format: format))
            let header = try SourceHeader(of: result.body)
            #expect(result.frames == 3 && header.frames == 3)
            // Browsers show a frame without a delay for 100 ms.
            #expect(header.delays == [300, 100, 20] && header.loop == 5, "\(format)")
        }
        for output in [OutputOptions(format: .png), OutputOptions(format: .jpeg), OutputOptions()] {
            let still = try produce(file, output: output)
            #expect(still.frames == 1 && (still.format == .png || output.format == .jpeg))
            #expect(try Pixels(still.body).distance(x: 1, y: 1, to: [200, 0, 0]) <= 3)
        }
        let document = String(buffer: try produce(file, output: OutputOptions(format: .json)).body)
        #expect(document.contains(#""pages":3"#) && document.contains(#""delays":[300,0,20]"#))
    }

    @Test func `An animation stays one where the client accepts a format for it`() throws {
        let file = try AnimatedPNG(frames: [Frame(color: Self.red), Frame(color: Self.green)]).file().bytes
        let outputs: [(OutputOptions, OutputFormat, Int)] = [
            (OutputOptions(format: .webp, alternative: .natural), .webp, 2),
            (OutputOptions(format: .avif, alternative: .webp), .webp, 2), (OutputOptions(), .png, 1),
        ]
        for (output, format, frames) in outputs {
            let plan = try InProcessImageProcessor().plan(
                ImageJob(source: file, chain: TransformChain([]), output: output))
            let result = try produce(file, output: output)
            #expect(result.format == format && result.frames == frames)
            #expect(plan.format == format && plan.frames == frames)
        }
    }

    @Test func `Limits apply to the frames before they are decoded`() throws {
        let file = try AnimatedPNG(frames: Array(repeating: Frame(color: Self.red), count: 9)).file().bytes
        let webp = OutputOptions(format: .webp)
        for (limits, advice) in [
            (PixelLimits(maxFrames: 8), "n=8&pick=even"), (PixelLimits(maxAnimationPixels: 16 * 5), "n=5&pick=even"),
        ] {
            let error = #expect(throws: ImageProcessingError.self) { try produce(file, output: webp, limits: limits) }
            #expect(String(describing: error).contains(advice), "\(String(describing: error))")
            let fewer = PageSelection(count: 5, isThinned: true)
            #expect(try produce(file, output: webp, pages: fewer, limits: limits).frames == 5)
        }
        let work = try InProcessImageProcessor().plan(
            ImageJob(source: file, chain: TransformChain([]), output: webp)
        ).expectedWork
        let last = try InProcessImageProcessor().plan(
            ImageJob(source: file, pages: PageSelection(first: 9), chain: TransformChain([]), output: webp)
        ).expectedWork
        #expect(work > last && last > 9 * 0.2)
    }
}
