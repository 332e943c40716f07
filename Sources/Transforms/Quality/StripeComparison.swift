/// Compares stripes of an image at half size with the result of coding them at a medium quality, without an encoder:
/// sample values and color differences are rounded in blocks as JPEG does.
struct StripeComparison {
    /// The columns that are judged, and their first. Both are multiples of the width that blocks and scales need.
    private let columns: Range<Int>
    /// The samples of the whole image: sRGB of 8 bits, with or without alpha.
    private let samples: UnsafeRawBufferPointer
    private let rowBytes: Int
    private let bands: Int

    /// The rows of a stripe, and the multiple that widths are rounded down to: at a quarter of the half size, four
    /// samples remain.
    static let side = 32

    /// - Parameter samples: the samples of all pixels, row by row, with `bands` of 3 or 4.
    init(samples: UnsafeRawBufferPointer, width: Int, bands: Int) {
        let judged = width / Self.side * Self.side
        columns = ((width - judged) / 2)..<((width + judged) / 2)
        self.samples = samples
        self.bands = bands
        rowBytes = width * bands
    }

    /// - Parameter tops: the first rows of the stripes.
    func similarity(inStripesAt tops: [Int]) -> StructuralSimilarity {
        let (width, height) = (columns.count / 2, Self.side / 2)
        return StripeWorkspace.with(capacity: width * height) { workspace in
            var similarity = StructuralSimilarity()
            for top in tops {
                read(from: top, into: workspace.original)
                code(workspace, width: width, height: height)
                similarity.add(workspace, width: width, height: height)
            }
            return similarity
        }
    }

    /// The share of squares of four pixels that have a single color, in a quarter of the rows.
    func plainShare(inStripesAt tops: [Int]) -> Double {
        var (plain, all) = (0, 0)
        for top in tops {
            for row in stride(from: 0, to: Self.side, by: 8) {
                for column in stride(from: columns.lowerBound, to: columns.upperBound, by: 2) {
                    plain += isPlain((top + row) * rowBytes + column * bands) ? 1 : 0
                    all += 1
                }
            }
        }
        return Double(plain) / Double(max(all, 1))
    }

    /// Whether a pixel, its right neighbor and the two pixels below them are equal.
    private func isPlain(_ pixel: Int) -> Bool {
        for sample in pixel..<pixel + bands {
            let value = samples[sample]
            guard value == samples[sample + bands], value == samples[sample + rowBytes],
                value == samples[sample + rowBytes + bands]
            else { return false }
        }
        return true
    }

    /// Means of four pixels each, transparent pixels on white.
    private func read(from top: Int, into planes: [Plane]) {
        if bands == 3 {
            read(from: top, into: planes) { Int(samples[$0 + $1]) }
        } else {
            read(from: top, into: planes) { pixel, channel in
                let alpha = Int(samples[pixel + 3])
                return (Int(samples[pixel + channel]) * alpha + 255 * (255 - alpha) + 127) / 255
            }
        }
    }

    private func read(from top: Int, into planes: [Plane], _ sample: (_ pixel: Int, _ channel: Int) -> Int) {
        let width = columns.count / 2
        for channel in 0..<3 {
            let plane = planes[channel]
            for row in 0..<Self.side / 2 {
                let start = (top + row * 2) * rowBytes + columns.lowerBound * bands
                for column in 0..<width {
                    let (first, second) = (start + column * 2 * bands, start + column * 2 * bands + rowBytes)
                    let sum =
                        sample(first, channel) + sample(first + bands, channel)
                        + sample(second, channel) + sample(second + bands, channel)
                    plane[row * width + column] = Float(sum) / 4
                }
            }
        }
    }

    /// Fills the planes of the coded image, and makes linear light of both.
    private func code(_ workspace: StripeWorkspace, width: Int, height: Int) {
        let (original, coded) = (workspace.original, workspace.coded)
        separate(original, into: coded, count: width * height)
        Self.luminance.apply(to: coded[0], width: width, height: height)
        Self.chrominance.apply(to: coded[1], width: width, height: height)
        Self.chrominance.apply(to: coded[2], width: width, height: height)
        join(coded, count: width * height)
        for plane in original + coded { linearize(plane, count: width * height) }
    }

    /// Makes luminance and the differences of blue and red to it (ITU-T T.871) of red, green and blue.
    private func separate(_ image: [Plane], into result: [Plane], count: Int) {
        let (reds, greens, blues) = (image[0], image[1], image[2])
        for index in stride(from: 0, to: count, by: Vector.scalarCount) {
            let red = reds.load(index, as: Vector.self)
            let green = greens.load(index, as: Vector.self)
            let blue = blues.load(index, as: Vector.self)
            result[0].store(0.299 * red + 0.587 * green + 0.114 * blue - 128, at: index)
            result[1].store(-0.168_736 * red - 0.331_264 * green + 0.5 * blue, at: index)
            result[2].store(0.5 * red - 0.418_688 * green - 0.081_312 * blue, at: index)
        }
    }

    /// Makes red, green and blue again, in place.
    private func join(_ image: [Plane], count: Int) {
        for index in stride(from: 0, to: count, by: Vector.scalarCount) {
            let luminance = image[0].load(index, as: Vector.self) + 128
            let (blue, red) = (image[1].load(index, as: Vector.self), image[2].load(index, as: Vector.self))
            image[0].store(luminance + 1.402 * red, at: index)
            image[1].store(luminance - 0.344_136 * blue - 0.714_136 * red, at: index)
            image[2].store(luminance + 1.772 * blue, at: index)
        }
    }

    /// Makes linear light of sRGB, rounded to 8 bits.
    private func linearize(_ plane: Plane, count: Int) {
        Self.light.withUnsafeBufferPointer { light in
            for index in 0..<count { plane[index] = light[Int(min(max(plane[index] + 0.5, 0), 255))] }
        }
    }

    private typealias Vector = SIMD4<Float>

    /// The linear light of each sRGB sample.
    private static let light = SRGBCurve.lightOfBytes.map(Float.init)
    /// The steps of the full size's lowest frequencies, which are all frequencies at half size. The steps are half as
    /// large there.
    private static let luminance = BlockRounding<SIMD4<Float>> { QuantizationTable.luminance($0, $1) / 2 }
    /// JPEG has color differences at half size.
    private static let chrominance = BlockRounding<SIMD8<Float>>(QuantizationTable.chrominance)
}
