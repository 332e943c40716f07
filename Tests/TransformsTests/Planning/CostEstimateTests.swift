import DarkroomRequests
import Testing

@testable import DarkroomTransforms

/// Estimates against measurements of single jobs: one process each, its peak minus the peak of a tiny job.
struct CostEstimateTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let facts: CostEstimate.Facts
        let measuredMiB: Int

        var testDescription: String { name }

        init(_ name: String, _ facts: CostEstimate.Facts, _ measuredMiB: Int) {
            self.name = name
            self.facts = facts
            self.measuredMiB = measuredMiB
        }
    }

    /// An image of 6000×4000 pixels in a file of `sourceMiB`, shrunk on load, then scaled to `width`.
    private static func job(
        _ format: SourceFormat, sourceMiB: Double, bands: Int = 3, needsWholeSource: Bool = false, shrink: Double = 1,
        width: Int? = nil, as output: OutputFormat, lossless: Bool = false, isRotated: Bool = false,
        isLinear: Bool = false
    ) -> CostEstimate.Facts {
        let area = Int(24_000_000 / shrink / shrink)
        let result = (width ?? 6000) * (width ?? 6000) * 2 / 3
        return CostEstimate.Facts(
            sourceBytes: Int(sourceMiB * 1_048_576), format: format, sourceArea: 24_000_000, frames: 1,
            needsWholeSource: needsWholeSource, rasterArea: area, rasterBytes: area * bands, rasterHasAlpha: bands == 4,
            resampledArea: width == nil ? 0 : result, isLinear: isLinear,
            steps: isRotated ? Rotate(degrees: 30).cost : .none,
            output: OutputOptions(format: output, lossless: lossless), outputFormat: output,
            resultArea: isRotated ? result * 19 / 10 : result, resultFrames: 1,
            resultHasAlpha: isRotated || (bands == 4 && output.supportsAlpha))
    }

    static let rows = [
        Row("a JPEG as it is", job(.jpeg, sourceMiB: 3.1, as: .jpeg), 211),
        Row("a JPEG as PNG", job(.jpeg, sourceMiB: 3.1, as: .png), 235),
        Row("a JPEG as WebP", job(.jpeg, sourceMiB: 3.1, as: .webp), 269),
        Row(
            "half a JPEG as lossless WebP",
            job(.jpeg, sourceMiB: 3.1, shrink: 2, width: 3000, as: .webp, lossless: true), 219),
        Row("half a JPEG as AVIF", job(.jpeg, sourceMiB: 3.1, shrink: 2, width: 1600, as: .avif), 73),
        Row("half a JPEG as GIF", job(.jpeg, sourceMiB: 3.1, shrink: 2, width: 1600, as: .gif), 82),
        Row("half a JPEG as JPEG XL", job(.jpeg, sourceMiB: 3.1, shrink: 2, width: 1600, as: .jxl), 105),
        Row("half a JPEG as TIFF", job(.jpeg, sourceMiB: 3.1, shrink: 2, width: 1600, as: .tiff), 34),
        Row("half a JPEG, tilted", job(.jpeg, sourceMiB: 3.1, shrink: 2, width: 1600, as: .png, isRotated: true), 57),
        Row("all of a JPEG, scaled", job(.jpeg, sourceMiB: 3.1, width: 1600, as: .jpeg), 89),
        Row(
            "a progressive JPEG, small",
            job(.jpeg, sourceMiB: 2.9, needsWholeSource: true, shrink: 8, width: 400, as: .jpeg), 70),
        Row(
            "a progressive JPEG, whole", job(.jpeg, sourceMiB: 2.9, needsWholeSource: true, width: 1600, as: .jpeg), 146
        ),
        Row("a PNG", job(.png, sourceMiB: 47.8, width: 400, as: .jpeg), 131),
        Row("an interlaced PNG", job(.png, sourceMiB: 52.2, needsWholeSource: true, width: 400, as: .jpeg), 185),
        Row("a PNG with alpha", job(.png, sourceMiB: 53.9, bands: 4, width: 400, as: .webp), 239),
        Row("a PNG with alpha, of average width", job(.png, sourceMiB: 17.4, bands: 4, width: 800, as: .webp), 247),
        Row("half a PNG with alpha", job(.png, sourceMiB: 17.4, bands: 4, width: 3000, as: .webp), 314),
        Row(
            "half a PNG with alpha, in linear light",
            job(.png, sourceMiB: 17.4, bands: 4, width: 3000, as: .webp, isLinear: true), 372),
        Row("a PNG in linear light", job(.png, sourceMiB: 12.7, width: 800, as: .jpeg, isLinear: true), 138),
        Row("a PNG with alpha as WebP", job(.png, sourceMiB: 53.9, bands: 4, as: .webp), 556),
        Row("a PNG of 16 bits", job(.png, sourceMiB: 68.6, bands: 6, width: 400, as: .jpeg), 239),
        Row("a WebP as it is", job(.webp, sourceMiB: 1.7, as: .webp), 280),
        Row(
            "a lossless WebP, small",
            job(.webp, sourceMiB: 16.3, needsWholeSource: true, shrink: 8, width: 400, as: .jpeg),
            106),
        Row("a lossless WebP", job(.webp, sourceMiB: 16.3, needsWholeSource: true, as: .png), 255),
    ]

    @Test(arguments: rows)
    func `An estimate is between 80 and 200 percent of the measurement`(_ row: Row) {
        let estimatedMiB = Double(CostEstimate(row.facts).bytes) / 1_048_576
        #expect(estimatedMiB >= 0.8 * Double(row.measuredMiB))
        #expect(estimatedMiB <= 2 * Double(row.measuredMiB))
    }

    @Test func `A small thumbnail of a large JPEG costs little more than the file`() {
        let cost = CostEstimate(Self.job(.jpeg, sourceMiB: 3.1, shrink: 8, width: 400, as: .jpeg))
        #expect(cost.bytes < 10 << 20)
    }

    @Test func `Estimated work has the order of the codecs' measured times`() {
        let work = [OutputFormat.jpeg, .png, .webp, .tiff, .gif, .avif].map {
            CostEstimate(Self.job(.jpeg, sourceMiB: 3.1, shrink: 2, width: 1600, as: $0)).work
        }
        #expect(work == work.sorted())
    }

    @Test func `A lossless AVIF takes more time and memory than a lossy one, and a plain one less than half`() {
        func estimate(mebibytes: Double, lossless: Bool) -> CostEstimate {
            CostEstimate(Self.job(.jpeg, sourceMiB: mebibytes, shrink: 2, width: 1600, as: .avif, lossless: lossless))
        }
        let (lossy, exact) = (estimate(mebibytes: 16, lossless: false), estimate(mebibytes: 16, lossless: true))
        #expect(exact.work > 1.2 * lossy.work && exact.bytes > lossy.bytes + 20_000_000)
        let plain = estimate(mebibytes: 0.1, lossless: true)
        #expect(plain.work > 0.38 * exact.work && plain.work < 0.5 * exact.work)
    }

    @Test func `Steps that compute every pixel anew add work, and other steps do not`() {
        func cost(_ chain: TransformChain) -> CostEstimate {
            var facts = Self.job(.jpeg, sourceMiB: 3.1, width: 1600, as: .jpeg)
            let size = PixelSize(width: 1600, height: 1067)
            facts.steps = chain.cost(at: Array(repeating: size, count: chain.transforms.count + 1))
            return CostEstimate(facts)
        }
        let plain = cost(TransformChain([]))
        #expect(cost(TransformChain([Flip(), Rotate(degrees: 180)])) == plain)
        for step in [Blur(sigma: 2), Trim(threshold: 9), Filter.sepia, Rotate(degrees: 9)] as [any Transform] {
            #expect(cost(TransformChain([step])).work > plain.work)
            #expect(cost(TransformChain([step, step])).work > cost(TransformChain([step])).work)
        }
        #expect(cost(TransformChain([Rotate(degrees: 9)])).bytes > plain.bytes)
    }

    @Test func `Estimates of the largest images can be added`() {
        var facts = Self.job(.jpeg, sourceMiB: 3.1, as: .png)
        facts.rasterBytes = .max
        let bytes = CostEstimate(facts).bytes
        #expect(bytes > 1 << 60)
        #expect(!bytes.addingReportingOverflow(bytes).overflow)
    }

    @Test func `Space around an image costs less to encode than the image, and nothing once it is cut off`() throws {
        var facts = Self.job(.jpeg, sourceMiB: 3.1, width: 1600, as: .png)
        let whole = CostEstimate(facts)
        facts.plainArea = facts.resultArea / 2
        let half = CostEstimate(facts)
        #expect(half.work < whole.work && half.work > whole.work / 2 && half.bytes == whole.bytes)
        let start = ChainPlan(source: PixelSize(width: 100, height: 100))
        let padded = try Pad(Padding(50)).planned(start)
        #expect(padded.plainArea == 30_000)
        #expect(try ContainExtend(canvas: PixelSize(width: 200, height: 200)).planned(start).plainArea == 30_000)
        // A mark may cover it, and a cut leave none of it.
        #expect(try Mark().planned(padded).plainArea == 0)
        #expect(padded.changingSize(to: start.size).plainArea == 0)
    }

    @Test func `The alpha channel of a JPEG XL takes as long to encode in plain areas, for each encode`() {
        func work(isPlain: Bool, hasAlpha: Bool, maxBytes: Int? = nil) -> Double {
            var facts = Self.job(.png, sourceMiB: 12.7, width: 1600, as: .jxl)
            facts.output.maxBytes = maxBytes
            facts.resultHasAlpha = hasAlpha
            facts.plainArea = isPlain ? facts.resultArea : 0
            return CostEstimate(facts).work
        }
        let alpha = work(isPlain: false, hasAlpha: true) - work(isPlain: false, hasAlpha: false)
        #expect(alpha > 150)
        #expect(abs(work(isPlain: true, hasAlpha: true) - work(isPlain: true, hasAlpha: false) - alpha) < 1e-6)
        let searched = work(isPlain: true, hasAlpha: true, maxBytes: 1)
        #expect(searched - work(isPlain: true, hasAlpha: false, maxBytes: 1) > 2 * alpha)
    }

    @Test func `The noise of flat areas is amplified by each sharpening in turn`() throws {
        let start = ChainPlan(source: PixelSize(width: 9, height: 9))
        let once = Sharpen(sigma: 1, flat: 50)
        #expect(try !once.planned(start).isNoiseSaturated && once.planned(once.planned(start)).isNoiseSaturated)
        #expect(try !Sharpen(flat: 1000).planned(start).isNoiseSaturated)
    }

    @Test func `An AVIF whose noise became black and white takes longer, and detail that a step draws is not foreseen`()
    {
        func work(_ change: PixelChange, isNoiseSaturated: Bool = false) -> Double {
            var facts = Self.job(.png, sourceMiB: 1, width: 1600, as: .avif)
            facts.steps.change = change
            facts.isNoiseSaturated = isNoiseSaturated
            return CostEstimate(facts).work
        }
        #expect(work(.moved) == work(.mixed) && work(.drawn) > 1.5 * work(.mixed))
        #expect(work(.drawn, isNoiseSaturated: true) > 1.1 * work(.drawn))
    }

    @Test
    func `An AVIF of a drawing takes less time the fewer bytes its file has, and a compressed photograph does not`() {
        func encoding(_ format: SourceFormat, mebibytes: Double) -> Double {
            CostEstimate(Self.job(format, sourceMiB: mebibytes, width: 6000, as: .avif)).encodingWork
        }
        let drawings = [0.1, 1, 4, 16, 60].map { encoding(.png, mebibytes: $0) }
        #expect(drawings == drawings.sorted() && drawings[1] < 0.25 * drawings[4])
        #expect(abs(drawings[0] / drawings[4] - 0.2) < 0.01)
        #expect(encoding(.jpeg, mebibytes: 0.1) == encoding(.jpeg, mebibytes: 0.2))
        #expect(encoding(.jpeg, mebibytes: 0.1) > 0.3 * encoding(.jpeg, mebibytes: 60))
    }

    @Test func `The alpha channel of an AVIF takes as long as in a photograph where colors are plain`() {
        func encoding(mebibytes: Double, hasAlpha: Bool) -> Double {
            var facts = Self.job(.png, sourceMiB: mebibytes, bands: 4, width: 1600, as: .avif)
            facts.resultHasAlpha = hasAlpha
            return CostEstimate(facts).encodingWork
        }
        func alpha(mebibytes: Double) -> Double {
            encoding(mebibytes: mebibytes, hasAlpha: true) - encoding(mebibytes: mebibytes, hasAlpha: false)
        }
        #expect(abs(alpha(mebibytes: 1) - alpha(mebibytes: 60)) < 1e-6 && alpha(mebibytes: 1) > 200)
    }

    @Test func `A trim with a great threshold reads more of a photograph than the usual one`() {
        let (usual, great) = (Trim(threshold: 10).cost, Trim(threshold: 200).cost)
        #expect(usual.nanosecondsPerPixel < great.nanosecondsPerPixel)
        #expect(usual.nanosecondsPerPixelWithAlpha < great.nanosecondsPerPixelWithAlpha)
    }

    @Test func `Shapes cover each other, so that ten times as many take an AVIF little longer`() {
        func work(_ plainBytes: Int, embeddedPixels: Int = 0) -> Double {
            var facts = Self.job(.svg, sourceMiB: 0, width: 1600, as: .avif)
            (facts.plainBytes, facts.embeddedPixels) = (plainBytes, embeddedPixels)
            let cost = CostEstimate(facts)
            return cost.work - cost.decodingWork
        }
        #expect(abs(work(160) - work(200)) < 1e-6)
        #expect(work(600_000) > 1.2 * work(60_000) && work(600_000) < 1.5 * work(60_000))
        // An embedded image may be a photograph.
        #expect(work(300, embeddedPixels: 9) > 2 * work(300))
    }

    @Test func `A trimmed GIF keeps its palette, and a blurred one gets another`() {
        func work(_ step: any Transform) -> Double {
            var facts = Self.job(.gif, sourceMiB: 1, as: .gif)
            facts.steps = TransformChain([step]).cost(at: [PixelSize(width: 600, height: 400)])
            facts.steps.change = PixelChange(step)
            return CostEstimate(facts).work
        }
        #expect(work(Trim(threshold: 9)) < 0.6 * work(Blur(sigma: 1)))
    }

    @Test func `A GIF keeps its palette in a box that is not smaller than it`() {
        func work(_ steps: [any Transform], _ result: PixelSize) -> Double {
            let source = PixelSize(width: 600, height: 400)
            var facts = Self.job(.gif, sourceMiB: 1, as: .gif)
            facts.resampledArea = result == source ? 0 : result.area
            facts.steps = TransformChain(steps).cost(at: [source] + steps.map { _ in result })
            return CostEstimate(facts).work
        }
        let unchanged = work([], PixelSize(width: 600, height: 400))
        let resize = Resize(box: Box(horizontal: .pixels(900), vertical: nil))
        #expect(work([resize], PixelSize(width: 600, height: 400)) < 1.1 * unchanged)
        #expect(work([resize], PixelSize(width: 599, height: 399)) > 1.5 * unchanged)
    }

    @Test func `A GIF that gets fewer colors gets another palette`() {
        func work(_ output: OutputOptions) -> Double {
            var facts = Self.job(.gif, sourceMiB: 1, as: .gif)
            (facts.output, facts.steps.change) = (output, .moved)
            return CostEstimate(facts).work
        }
        let same = work(OutputOptions(format: .gif))
        #expect(work(OutputOptions(format: .gif, quality: 70)) == same)
        let fewer = work(OutputOptions(format: .gif, quality: 69))
        #expect(same < 0.6 * fewer)
        #expect(work(OutputOptions(format: .gif, maxBytes: 900)) > 2 * fewer)
    }

    @Test func `Steps of a list cost time each, and hold no more than two images at a time`() {
        func cost(_ steps: [any Transform], _ times: Int) -> TransformCost {
            let all = Array(repeating: steps, count: times).flatMap(\.self)
            return TransformChain(all).cost(
                at: Array(repeating: PixelSize(width: 100, height: 100), count: all.count + 1))
        }
        for steps: [any Transform] in [
            [Trim(threshold: 9)], [Rotate(degrees: 90), Scale(99)], [Flip(), Scale(50)], [Blur(sigma: 1)],
        ] {
            let (four, eight) = (cost(steps, 4), cost(steps, 8))
            #expect(eight.nanosecondsPerPixel > 1.9 * four.nanosecondsPerPixel)
            #expect(eight.bytesPerPixel == four.bytesPerPixel && eight.bytesPerPixel > 0)
        }
    }

    @Test func `Steps of a list that convert colors hold strips of rows at the same time`() throws {
        let chain = TransformChain(Array(repeating: Hue(degrees: 9), count: 8))
        let cost = chain.cost(at: Array(repeating: PixelSize(width: 100, height: 100), count: 9))
        #expect(cost.bytesPerPixel == 8 * Hue(degrees: 9).cost.bytesPerPixel && cost.bytesPerPixel >= 8)
    }

    @Test func `A long animation holds the strips of one frame at a time, and the profiles of many`() {
        let each = 500_000.0
        func held(_ frames: Int, _ part: WritableKeyPath<TransformCost, Double>) -> Int {
            var facts = Self.job(.gif, sourceMiB: 1, as: .webp)
            facts.sourceArea = 100
            (facts.frames, facts.resultFrames) = (frames, frames)
            (facts.rasterArea, facts.rasterBytes, facts.resultArea) = (100 * frames, 300 * frames, 100 * frames)
            let without = CostEstimate(facts).bytes
            facts.steps[keyPath: part] = each
            return CostEstimate(facts).bytes - without
        }
        let most = ImageFrames.maxLazyFrames
        #expect(held(most, \.bytesPerFrame) > (most - 1) * Int(each) && held(most + 1, \.bytesPerFrame) < 2 * Int(each))
        #expect(held(most + 1, \.keptBytesPerFrame) > (most - 1) * Int(each))
    }

    @Test func `A blurred backdrop costs most where the image does not cover it`() {
        func cost(_ padding: Int) -> TransformCost {
            let side = 100 + 2 * padding
            return TransformChain([CanvasFill(.blur, padding: Padding(padding))]).cost(
                at: [PixelSize(width: 100, height: 100), PixelSize(width: side, height: side)])
        }
        let (covered, bare) = (cost(1), cost(400))
        #expect(covered.nanosecondsPerPixel < 30 && bare.nanosecondsPerPixel > 85)
        #expect(covered.nanosecondsPerPixelWithAlpha > 130 && bare.nanosecondsPerPixelWithAlpha > 130)
    }

    @Test func `A step costs what it takes with an alpha channel after another step has added the channel`() {
        let (size, chain) = (PixelSize(width: 90, height: 60), TransformChain([Hue(degrees: 9), Hue(degrees: 9)]))
        let sizes = [size, size, size]
        let (opaque, translucent) = (chain.cost(at: sizes), chain.cost(at: sizes, alphas: [false, true, true]))
        let one = Hue(degrees: 9).cost
        #expect(opaque.nanosecondsPerPixel == 2 * one.nanosecondsPerPixel)
        #expect(
            translucent.nanosecondsPerPixel == one.nanosecondsPerPixel + one.nanosecondsPerPixelWithAlpha)
    }

    @Test func `A transposed image is computed before it is trimmed, and an upright one is in memory already`() {
        let (size, chain) = (PixelSize(width: 30, height: 20), TransformChain([Orient(.auto), Trim(threshold: 9)]))
        #expect(chain.cost(at: [size, size, size]).bytesPerPixel == 0)
        #expect(chain.cost(at: [size, size.transposed, size.transposed]).bytesPerPixel == 3)
    }

    @Test func `A mark is part of its job, which counts the smallest job`() {
        var facts = Self.job(.png, sourceMiB: 0, shrink: 600, width: 4, as: .color)
        facts.sourceArea = 16
        let whole = CostEstimate(facts)
        facts.isPart = true
        let part = CostEstimate(facts)
        #expect(abs(whole.work - part.work - 1.5) < 1e-9 && whole.bytes - part.bytes == 2 << 20)
    }

    @Test func `Each frame of an animation adds to memory and work`() {
        var facts = Self.job(.gif, sourceMiB: 1, bands: 4, as: .webp)
        facts.sourceArea = 1_000_000
        (facts.rasterArea, facts.rasterBytes, facts.resultArea) = (1_000_000, 4_000_000, 1_000_000)
        let one = CostEstimate(facts)
        (facts.frames, facts.resultFrames) = (30, 30)
        (facts.rasterArea, facts.rasterBytes, facts.resultArea) = (30_000_000, 120_000_000, 30_000_000)
        let all = CostEstimate(facts)
        #expect(all.bytes > one.bytes + 29 * 8_000_000)
        #expect(all.work > 25 * one.work)
    }

    @Test func `Each scan of a progressive JPEG after the first ten adds work`() {
        var facts = Self.job(.jpeg, sourceMiB: 8, needsWholeSource: true, shrink: 8, width: 400, as: .jpeg)
        facts.sourceArea = 49_000_000
        let usual = CostEstimate(facts)
        facts.scans = 10
        #expect(CostEstimate(facts) == usual)
        facts.scans = 2_000
        let limit = Double(PixelLimits().maxProcessingMilliseconds)
        #expect(usual.decodingWork < limit && CostEstimate(facts).decodingWork > limit)
    }

    @Test func `The tree of a drawing's document is part of the estimated memory`() {
        var facts = Self.job(.svg, sourceMiB: 0.04, shrink: 60, width: 100, as: .png)
        let usual = CostEstimate(facts)
        (facts.plainBytes, facts.tags) = (3000, 60)
        let ordinary = CostEstimate(facts)
        #expect(ordinary.bytes - usual.bytes < 300_000 && ordinary.work == usual.work)
        // An embedded photograph is no tree.
        facts.plainBytes = 8 << 20
        #expect(CostEstimate(facts).bytes - usual.bytes < 250_000_000)
        (facts.plainBytes, facts.tags) = (16 << 20, 932_000)
        #expect(CostEstimate(facts).bytes > 1_400_000_000)
        #expect(CostEstimate(facts).work > usual.work + 3_200)
    }

    @Test func `Absurd sizes give a large number instead of an overflow`() {
        var facts = Self.job(.png, sourceMiB: 1, as: .gif)
        (facts.sourceArea, facts.resultArea, facts.rasterBytes) = (.max, .max, .max)
        #expect(CostEstimate(facts).bytes > 1 << 60)
    }
}
