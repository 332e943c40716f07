import Testing

@testable import DarkroomTransforms

/// Predictions against what single jobs were measured to take: one process each, its peak less that of a tiny job.
struct JobCostTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let facts: JobCost.Facts
        let measuredMiB: Int

        var testDescription: String { name }

        init(_ name: String, _ facts: JobCost.Facts, _ measuredMiB: Int) {
            self.name = name
            self.facts = facts
            self.measuredMiB = measuredMiB
        }
    }

    /// A picture of 6000 by 4000 in a file of `sourceMiB`, shrunk on load, then made so many pixels wide.
    private static func job(
        _ format: SourceFormat, sourceMiB: Double, bands: Int = 3, isHeldWhole: Bool = false, shrink: Double = 1,
        width: Int? = nil, as output: OutputFormat, lossless: Bool = false, isTilted: Bool = false,
        isLinear: Bool = false
    ) -> JobCost.Facts {
        let area = Int(24_000_000 / shrink / shrink)
        let result = (width ?? 6000) * (width ?? 6000) * 2 / 3
        return JobCost.Facts(
            sourceBytes: Int(sourceMiB * 1_048_576), format: format, sourceArea: 24_000_000, frames: 1,
            isHeldWhole: isHeldWhole, rasterArea: area, rasterBytes: area * bands, rasterHasAlpha: bands == 4,
            isScaled: width != nil, isLinear: isLinear, isTilted: isTilted, filters: 0, isTrimmed: false,
            output: OutputOptions(format: output, lossless: lossless), outputFormat: output,
            resultArea: isTilted ? result * 19 / 10 : result, resultFrames: 1,
            resultHasAlpha: isTilted || (bands == 4 && output.supportsAlpha))
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
        Row("half a JPEG, tilted", job(.jpeg, sourceMiB: 3.1, shrink: 2, width: 1600, as: .png, isTilted: true), 161),
        Row("all of a JPEG, scaled", job(.jpeg, sourceMiB: 3.1, width: 1600, as: .jpeg), 89),
        Row(
            "a progressive JPEG, small",
            job(.jpeg, sourceMiB: 2.9, isHeldWhole: true, shrink: 8, width: 400, as: .jpeg), 70),
        Row("a progressive JPEG, whole", job(.jpeg, sourceMiB: 2.9, isHeldWhole: true, width: 1600, as: .jpeg), 146),
        Row("a PNG", job(.png, sourceMiB: 47.8, width: 400, as: .jpeg), 131),
        Row("an interlaced PNG", job(.png, sourceMiB: 52.2, isHeldWhole: true, width: 400, as: .jpeg), 185),
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
            "a lossless WebP, small", job(.webp, sourceMiB: 16.3, isHeldWhole: true, shrink: 8, width: 400, as: .jpeg),
            106),
        Row("a lossless WebP", job(.webp, sourceMiB: 16.3, isHeldWhole: true, as: .png), 255),
    ]

    @Test(arguments: rows)
    func `A prediction is at least four fifths of what was measured and at most twice as much`(_ row: Row) {
        let predictedMiB = Double(JobCost(row.facts).bytes) / 1_048_576
        #expect(predictedMiB >= 0.8 * Double(row.measuredMiB))
        #expect(predictedMiB <= 2 * Double(row.measuredMiB))
    }

    @Test func `A small thumbnail of a large JPEG costs little more than the file`() {
        let cost = JobCost(Self.job(.jpeg, sourceMiB: 3.1, shrink: 8, width: 400, as: .jpeg))
        #expect(cost.bytes < 10 << 20)
    }

    @Test func `Slow codecs count as more work, in the order of what they were measured to take`() {
        let work = [OutputFormat.jpeg, .webp, .png, .tiff, .avif, .gif].map {
            JobCost(Self.job(.jpeg, sourceMiB: 3.1, shrink: 2, width: 1600, as: $0)).work
        }
        #expect(work == work.sorted())
    }

    @Test func `Each frame of an animation adds to memory and work`() {
        var facts = Self.job(.gif, sourceMiB: 1, bands: 4, as: .webp)
        facts.sourceArea = 1_000_000
        (facts.rasterArea, facts.rasterBytes, facts.resultArea) = (1_000_000, 4_000_000, 1_000_000)
        let one = JobCost(facts)
        (facts.frames, facts.resultFrames) = (30, 30)
        (facts.rasterArea, facts.rasterBytes, facts.resultArea) = (30_000_000, 120_000_000, 30_000_000)
        let all = JobCost(facts)
        #expect(all.bytes > one.bytes + 29 * 8_000_000)
        #expect(all.work > 25 * one.work)
    }

    @Test func `Absurd sizes end in a large number, not in a trap`() {
        var facts = Self.job(.png, sourceMiB: 1, as: .gif)
        (facts.sourceArea, facts.resultArea, facts.rasterBytes) = (.max, .max, .max)
        #expect(JobCost(facts).bytes > 1 << 60)
    }
}
