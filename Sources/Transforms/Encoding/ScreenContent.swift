import DarkroomVips

/// What libaom takes for the content of a screen: many blocks of few colors, as in dithered drawings, and in the
/// smooth parts of photographs without noise.
///
/// For such an image, libaom 3.6 keeps a table of all blocks from effort 2 on, and compares each block with its equals.
/// Measured with eight images of 0.2 to 3.6 megapixels, that takes 4 to 38 times as long as effort 1, and 80 bytes more
/// for each pixel. Files are up to 28 % smaller (8 % in the median), at the same signal-to-noise ratio within 0.6 dB.
enum ScreenContent {
    /// The greatest effort at which libaom keeps no table.
    static let maxEffort = 1
    /// The efforts at which the table takes most of the time. From 4 on, the search for smaller files does.
    private static let affected = 2...3

    /// The effort to encode an image with, at most the effort asked for.
    ///
    /// - Parameters:
    ///   - pixels: the image in memory.
    ///   - isLossless: whether red, green and blue are encoded as they are.
    static func effort(
        _ effort: Int, for pixels: VipsImage, isLossless: Bool = false
    ) throws(VipsError) -> Int {
        guard affected.contains(effort), pixels.isByte, pixels.bands == 3 || pixels.bands == 4 else { return effort }
        let (width, bands) = (pixels.width, pixels.bands)
        let first = isLossless ? Plane.green : .luminance
        let keepsTable = try pixels.withSamples { samples in
            (bands == 4 ? [first, .alpha] : [first]).contains { plane in
                isFound(in: samples, width: width, bands: bands, plane)
            }
        }
        return keepsTable ? maxEffort : effort
    }

    /// The planes that libaom looks at: the first one of the colors, which is green without a matrix, and alpha.
    enum Plane { case luminance, green, alpha }

    private static let side = 16
    /// Blocks whose variance rounds to 0 do not count for the second condition: 0.5 times the pixels of a block.
    private static let leastVariance = 128

    /// Whether the conditions of `av1_set_screen_content_options` hold: one in ten blocks has two to four values, and
    /// one in twelve has a variance in addition. One in thirteen is enough here, since libheif may round a luminance
    /// differently.
    static func isFound(in samples: UnsafeRawBufferPointer, width: Int, bands: Int, _ plane: Plane) -> Bool {
        let height = samples.count / max(width * bands, 1)
        var (few, varied) = (0, 0)
        for top in stride(from: 0, through: height - side, by: side) {
            for left in stride(from: 0, through: width - side, by: side) {
                let start = (top * width + left) * bands
                guard let variance = variance(samples, start, rowBytes: width * bands, bands, plane) else { continue }
                few += 1
                varied += variance >= leastVariance ? 1 : 0
            }
        }
        let area = width * height
        return few * side * side * 10 > area && varied * side * side * 13 > area
    }

    /// The variance of a block of two to four values, times its pixels; nil for other blocks.
    private static func variance(
        _ samples: UnsafeRawBufferPointer, _ start: Int, rowBytes: Int, _ bands: Int, _ plane: Plane
    ) -> Int? {
        var colors = (-1, -1, -1, -1)
        var (count, sum, squares) = (0, 0, 0)
        for row in 0..<side {
            var pixel = start + row * rowBytes
            let end = pixel + side * bands
            while pixel < end {
                let value = value(samples, pixel, bands, plane)
                if value != colors.0, value != colors.1, value != colors.2, value != colors.3 {
                    switch count {
                    case 0: colors.0 = value
                    case 1: colors.1 = value
                    case 2: colors.2 = value
                    case 3: colors.3 = value
                    default: return nil
                    }
                    count += 1
                }
                sum += value
                squares += value * value
                pixel += bands
            }
        }
        return count > 1 ? squares - sum * sum / (side * side) : nil
    }

    static func value(
        _ samples: UnsafeRawBufferPointer, _ pixel: Int, _ bands: Int, _ plane: Plane
    ) -> Int {
        switch plane {
        case .alpha: return Int(samples[pixel + 3])
        case .green: return Int(samples[pixel + 1])
        case .luminance:
            // BT.601, as libheif computes it.
            let (red, green, blue) = (Int(samples[pixel]), Int(samples[pixel + 1]), Int(samples[pixel + 2]))
            return (19_595 * red + 38_470 * green + 7_471 * blue + 32_768) >> 16
        }
    }
}
