import DarkroomVips

/// Recognizes pages of text, such as scans and screenshots: bright paper, and dark strokes on most parts of it that are
/// not empty. In linear light, dark letters on white become thinner.
///
/// Photographs have parts that are not paper. Light letters on black are not looked for: in linear light, they become
/// bolder.
struct TextPage {
    /// Samples of green, or of gray, in square blocks that are spread over the image.
    private let samples: UnsafeRawBufferPointer
    private let rowBytes: Int
    private let bands: Int
    /// Pixels from one sample to the next.
    private let step: Int
    /// Samples of a side of a block.
    private let side: Int
    /// Blocks in a row and in a column.
    private let columns: Int
    private let rows: Int
    /// One of so many blocks of a row is examined.
    private let spacing: Int

    /// Whether an image in memory is a page of text.
    static func isFound(in image: VipsImage) throws(VipsError) -> Bool {
        guard image.isByte, image.bands == 1 || image.bands == 3 else { return false }
        let (width, height, bands) = (image.width, image.height, image.bands)
        return try image.withSamples { samples in
            TextPage(samples, width: width, height: height, bands: bands)?.isText ?? false
        }
    }

    /// Nil if the image is too small to have letters.
    private init?(_ samples: UnsafeRawBufferPointer, width: Int, height: Int, bands: Int) {
        let length = (Double(width) * Double(height)).squareRoot() / Self.blocksAcross
        step = max(1, Int(length) / Self.sides.upperBound)
        side = min(max(Int(length) / step, Self.sides.lowerBound), Self.sides.upperBound)
        (columns, rows) = (width / step / side, height / step / side)
        guard columns >= 3, rows >= 3 else { return nil }
        let (columns, rows) = (columns, rows)
        spacing = (1...).first { (columns / $0) * (rows / $0) <= Self.maxBlocks } ?? 1
        (self.samples, self.bands, rowBytes) = (samples, bands, width * bands)
    }

    private static let blocksAcross = 40.0
    private static let sides = 6...16
    private static let maxBlocks = 600

    private var isText: Bool {
        guard let paper = brightness() else { return false }
        let (near, ink, area) = (paper - 16, paper - 64, side * side)
        var (all, paperBlocks, written, solid, varied) = (0, 0, 0, 0, 0)
        eachBlock { block in
            var (least, most, paperSamples, inkSamples) = (255, 0, 0, 0)
            eachSample(of: block) { sample in
                (least, most) = (min(least, sample), max(most, sample))
                if sample >= near { paperSamples += 1 } else if sample < ink { inkSamples += 1 }
            }
            all += 1
            if most - least >= 48 { varied += 1 }
            if paperSamples * 10 < area { solid += 1 }
            guard paperSamples * 5 >= area * 2 else { return }
            paperBlocks += 1
            if inkSamples * 100 >= area, paperSamples * 100 <= area * 97 { written += 1 }
        }
        // Seven tenths are paper. 15 % of all blocks, and two fifths of the blocks that are not plain, are written on.
        // At most half as many are objects without paper.
        return paperBlocks * 10 >= all * 7 && written * 20 >= all * 3 && written * 5 >= varied * 2
            && solid * 2 <= written
    }

    /// The most frequent sample if it is bright, and three tenths of the samples are about as bright.
    private func brightness() -> Int? {
        var counts = [Int](repeating: 0, count: 256 + 2 * Self.spread)
        eachBlock { block in eachSample(of: block) { counts[$0 + Self.spread] += 1 } }
        let total = counts.reduce(0, +)
        let shares = (192...255).map { paper in (paper, counts[paper...(paper + 2 * Self.spread)].reduce(0, +)) }
        guard let (paper, count) = shares.max(by: { $0.1 < $1.1 }), count * 10 >= total * 3 else { return nil }
        return paper
    }

    private static let spread = 4

    private func eachBlock(_ body: (Int) -> Void) {
        for row in stride(from: 0, to: rows, by: spacing) {
            for column in stride(from: row / spacing % spacing, to: columns, by: spacing) {
                body(row * side * step * rowBytes + column * side * step * bands)
            }
        }
    }

    private func eachSample(of block: Int, _ body: (Int) -> Void) {
        let band = bands == 3 ? 1 : 0
        for y in 0..<side {
            var place = block + y * step * rowBytes + band
            for _ in 0..<side {
                body(Int(samples[place]))
                place += step * bands
            }
        }
    }
}
