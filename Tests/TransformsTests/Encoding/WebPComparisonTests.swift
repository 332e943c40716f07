import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// The choice between AVIF and WebP for clients that accept both.
struct WebPComparisonTests {
    private static let negotiated = OutputOptions(format: .avif, alternative: .webp)

    private func negotiated(quality: Int? = nil, maxBytes: Int? = nil, target: QualityTarget? = nil) -> OutputOptions {
        OutputOptions(format: .avif, quality: quality, target: target, maxBytes: maxBytes, alternative: .webp)
    }

    @Test func `A drawing stays the lossless WebP`() throws {
        let source = try PixelContentTests.chart().png()
        for output in [
            negotiated(), negotiated(quality: 50), negotiated(target: .medium), negotiated(maxBytes: 100_000),
        ] {
            let result = try produce(source, output: output)
            let webP = try produce(source, output: output.converted(to: .webp))
            #expect(result.format == .webp && result.body == webP.body && result.quality == webP.quality)
            #expect(result.effort == EncoderEfforts().webp)
            #expect(try Pixels(result.body).samples == Pixels(PixelContentTests.chart()).samples)
        }
    }

    @Test func `A drawing is AVIF where the URL or the client names only that`() throws {
        let source = try PixelContentTests.chart().png()
        for alternative in [AlternativeFormat.none, .natural] {
            let result = try produce(source, output: OutputOptions(format: .avif, alternative: alternative))
            #expect(result.format == .avif && result.stages?.compare == nil)
        }
    }

    @Test(arguments: ["formats/photo.jpg", "formats/alpha.png", "sample.jpg", "formats/photo.webp"])
    func `An image has the format in which it is smaller, with the same bytes as alone`(name: String) throws {
        let source = try Fixture.image(name)
        for quality in [nil, 10, 50, 95] {
            let output = negotiated(quality: quality)
            let result = try produce(source, .box(160), output: output)
            let avif = try produce(source, .box(160), output: output.converted(to: .avif)).body
            let webP = try produce(source, .box(160), output: output.converted(to: .webp)).body
            let isExact = webP.readableBytesView.firstRange(of: Array("VP8L".utf8)) != nil
            #expect(result.body == (avif.readableBytes < webP.readableBytes && !isExact ? avif : webP))
            #expect(SourceFormat(sniffing: result.body)?.mediaType == result.format.mediaType)
            #expect((result.stages?.compare != nil) == !isExact)
        }
    }

    @Test func `A photograph is AVIF at the default quality, and its WebP need not be encoded if its length is known`()
        throws
    {
        let source = try Fixture.image("formats/photo.jpg")
        var job = ImageJob(source: source, chain: TransformChain(.box(200)), output: Self.negotiated)
        let result = try InProcessImageProcessor().process(job) { false }
        #expect(result.format == .avif && result.stages?.compare != nil)
        job.webPBytes = 1 << 20
        let known = try InProcessImageProcessor().process(job) { false }
        #expect(known.body == result.body && known.stages?.compare == nil)
        job.webPBytes = result.body.readableBytes
        let smaller = try InProcessImageProcessor().process(job) { false }
        #expect(smaller.format == .webp)
    }

    private struct Case {
        var avif = 100
        var webP = 100
        var isExact = false
        var known: Int?
        var maxBytes: Int?
        var isDrawing = false
        /// The result, and what was encoded.
        let expected: (OutputFormat, [OutputFormat])
    }

    @Test func `The WebP is the result if it is exact or no larger, and encoded only if that may be`() throws {
        let cases = [
            Case(avif: 99, expected: (.avif, [.webp, .avif])), Case(expected: (.webp, [.webp, .avif])),
            Case(avif: 99, known: 100, expected: (.avif, [.avif])),
            Case(known: 100, expected: (.webp, [.avif, .webp])),
            Case(avif: 9, isExact: true, known: 100, isDrawing: true, expected: (.webp, [.webp])),
            Case(avif: 9, isDrawing: true, expected: (.avif, [.webp, .avif])),
            // The limit on bytes decides the length of both.
            Case(webP: 90, maxBytes: 100, expected: (.avif, [.avif])),
            Case(webP: 90, maxBytes: 100, isDrawing: true, expected: (.avif, [.webp, .avif])),
            Case(webP: 90, isExact: true, maxBytes: 100, isDrawing: true, expected: (.webp, [.webp])),
            Case(webP: 110, isExact: true, maxBytes: 100, isDrawing: true, expected: (.avif, [.webp, .avif])),
        ]
        let photo = try Drawing.image(64, 64) { x, y in
            (1...3).map { UInt8((x * 7919 + y * 104_729 + x * y * 1_299_709) * $0 % 251) }
        }
        let drawing = try PixelContentTests.chart()
        for (index, one) in cases.enumerated() {
            var encoded: [OutputFormat] = []
            let comparison = WebPComparison(
                output: negotiated(maxBytes: one.maxBytes), knownBytes: one.known)
            func image(_ format: OutputFormat, _ bytes: Int, isExact: Bool = false) -> EncodedImage {
                encoded.append(format)
                return EncodedImage(body: ByteBuffer(repeating: 0, count: bytes), format: format, isExact: isExact)
            }
            let result = try comparison.result(
                for: ImageFrames(frames: [one.isDrawing ? drawing : photo]),
                preferred: { () throws(ImageProcessingError) in image(.avif, one.avif) },
                webP: { () throws(ImageProcessingError) in image(.webp, one.webP, isExact: one.isExact) })
            #expect(result.format == one.expected.0 && encoded == one.expected.1, "case \(index)")
            #expect((result.comparison != nil) == (encoded.count == 2), "case \(index)")
        }
    }

    @Test func `Of two lengths without loss nothing is compared`() throws {
        #expect(!OutputOptions(format: .avif, lossless: true, alternative: .webp).mayYieldToWebP)
        #expect(!OutputOptions(format: .jxl, alternative: .webp).mayYieldToWebP)
        #expect(Self.negotiated.mayYieldToWebP)
    }

    // MARK: Planning

    private func plan(
        _ source: ByteBuffer, _ recipe: Recipe = Recipe(), _ output: OutputOptions, milliseconds: Int = 4000
    ) throws -> ImagePlan {
        let limits = PixelLimits(maxProcessingMilliseconds: milliseconds)
        return try InProcessImageProcessor().plan(
            ImageJob(source: source, chain: TransformChain(recipe, limits: limits), output: output, limits: limits))
    }

    @Test func `The estimate includes the WebP, and the choice within it`() throws {
        for (source, choosesWithin) in [
            (try Fixture.image("formats/photo.jpg"), false), (try PixelContentTests.chart().png(), true),
        ] {
            let compared = try plan(source, Recipe(), Self.negotiated)
            let avif = try plan(source, Recipe(), OutputOptions(format: .avif))
            let webP = try plan(source, Recipe(), OutputOptions(format: .webp))
            #expect(compared.format == .avif && compared.webPChoiceWork == webP.choiceWork)
            #expect((webP.choiceWork > 0) == choosesWithin)
            let sum = avif.expectedWork + webP.encodingWork + webP.choiceWork
            #expect(abs(compared.expectedWork - sum) < 1e-6 && compared.encodingWork == avif.encodingWork)
            #expect(compared.estimatedMemoryBytes > max(avif.estimatedMemoryBytes, webP.estimatedMemoryBytes))
            #expect(avif.webPChoiceWork == nil && webP.webPChoiceWork == nil)
        }
    }

    @Test func `With little time the effort is lowered first, and then the image is WebP without a comparison`() throws
    {
        let source = try PixelContentTests.chart().png()
        let usual = try plan(source, Recipe(), Self.negotiated)
        let faster = try plan(source, Recipe(), Self.negotiated, milliseconds: Int(usual.expectedWork) - 1)
        #expect(faster.format == .avif && faster.webPChoiceWork == usual.webPChoiceWork)
        #expect(try #require(faster.effort) < #require(usual.effort))
        let webP = try plan(source, Recipe(), OutputOptions(format: .webp))
        let least = try plan(
            source, Recipe(), Self.negotiated, milliseconds: Int(webP.expectedWork.rounded(.up)))
        #expect(least.format == .webp && least.preferredFormat == .avif && least.choiceWork == webP.choiceWork)
    }

    @Test(arguments: [(4000, 3000), (3000, 4000)])
    func `A photograph of 12 megapixels is compared, at every width`(width: Int, height: Int) throws {
        let source = try EncodingChoiceTests().photograph(width, height)
        for wanted in Array(stride(from: 320, to: width, by: 160)) + [width] {
            let planned = try plan(source, .box(wanted), Self.negotiated)
            #expect(planned.format == .avif && planned.webPChoiceWork != nil, "\(wanted)")
        }
    }
}
