import DarkroomRequests
import DarkroomVips

/// How much the pixels of an image differ from their neighbors, on which the time of encoding them as AVIF depends.
///
/// A plan knows only the bytes of the file. Drawings have few, but so has noise that repeats, which takes libaom up to
/// six times as long. Therefore an image whose plan expects little is examined before it is encoded.
struct PixelDetail: Hashable {
    /// Of the colors, 0…1: 0 = plain, 1 = each pixel differs.
    var color: Double
    /// Of the alpha channel, 0…1.
    var alpha: Double

    /// The most that an image can have.
    static let most = PixelDetail(color: 1, alpha: 1)

    private static let side = 8
    /// The difference in a block from which on a greater one does not take longer: a smaller one is hardly kept.
    private static let (lossyRange, losslessRange) = (64, 8)

    init(color: Double, alpha: Double) {
        (self.color, self.alpha) = (color, alpha)
    }

    /// - Parameter pixels: the image in memory. Without 8-bit samples of three colors, it is taken for noise.
    init(of pixels: VipsImage, isLossless: Bool) throws(VipsError) {
        self = .most
        guard pixels.isByte, pixels.bands == 3 || pixels.bands == 4 else { return }
        let (width, height, bands) = (pixels.width, pixels.height, pixels.bands)
        let range = isLossless ? Self.losslessRange : Self.lossyRange
        self = try pixels.withSamples { samples in
            let rows = Rows(samples: samples, width: width, height: height, bands: bands)
            return PixelDetail(
                color: rows.detail(range) { ScreenContent.value(samples, $0, bands, .luminance) },
                alpha: bands < 4 ? 0 : rows.detail(Self.losslessRange) { Int(samples[$0 + 3]) })
        }
    }

    private struct Rows {
        let samples: UnsafeRawBufferPointer
        let width: Int
        let height: Int
        let bands: Int

        /// The mean range of the values in a block and the first row and column of its neighbors, of at most `most`.
        @inline(__always)
        func detail(_ most: Int, _ value: (Int) -> Int) -> Double {
            var (sum, blocks) = (0, 0)
            let side = PixelDetail.side
            for top in stride(from: 0, to: height, by: side) {
                for left in stride(from: 0, to: width, by: side) {
                    var (least, greatest) = (Int.max, Int.min)
                    for y in top...min(top + side, height - 1) {
                        for x in left...min(left + side, width - 1) {
                            let value = value((y * width + x) * bands)
                            least = min(least, value)
                            greatest = max(greatest, value)
                        }
                    }
                    sum += min(greatest - least, most)
                    blocks += 1
                }
            }
            return Double(sum) / Double(max(blocks * most, 1))
        }
    }
}

extension Encoder {
    /// The greatest efforts, at most these, at which the pixels take no more than twice the time that the plan expects
    /// for an AVIF; otherwise the least effort.
    ///
    /// - Parameter efforts: the efforts after a search for ``ScreenContent``.
    func affordableEfforts(
        _ efforts: EncoderEfforts, for pixels: VipsImage
    ) throws(VipsError) -> EncoderEfforts {
        guard encodingWork > 0 else { return efforts }
        let (area, hasAlpha) = (Double(pixels.width * pixels.height), pixels.hasAlpha)
        let isScreen = efforts.avif < self.efforts.avif
        func isInTime(_ detail: PixelDetail, _ efforts: EncoderEfforts) -> Bool {
            let (color, alpha) = detail.avifFactors(isLossless: options.lossless, isScreen: isScreen)
            let each =
                format.encodingNanoseconds(for: options, efforts, frameArea: area) * color
                + (hasAlpha ? format.alphaNanoseconds(for: options, efforts) * alpha : 0)
            return each * area / 1e6 <= encodingWork * 2
        }
        guard !isInTime(.most, efforts) else { return efforts }
        let detail = try PixelDetail(of: pixels, isLossless: options.lossless)
        let all = efforts.descending(for: .avif)
        return all.first { isInTime(detail, $0) } ?? all.last ?? efforts
    }
}

extension PixelDetail {
    /// The time of a pixel relative to a photograph of grass, and of its alpha relative to constant alpha.
    ///
    /// Measured with 110 images of 0.1 and 1 megapixel: noise of each amplitude and period, mosaics, lines, photographs
    /// and drawings took 0.6 to 1.6 of it.
    fileprivate func avifFactors(isLossless: Bool, isScreen: Bool) -> (color: Double, alpha: Double) {
        let color = isLossless ? 0.25 + 1.05 * self.color : (0.1 + 1.1 * self.color) * (isScreen ? 0.6 : 1)
        return (color, 1 + 2.4 * alpha)
    }
}
