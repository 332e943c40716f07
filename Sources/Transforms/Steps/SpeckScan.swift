import DarkroomRequests
import DarkroomVips

/// A search for the pixels that differ from the border together with most of their neighbors: a speck does not count.
///
/// A pixel counts if the median of its 3×3 pixels differs by more than the threshold in a sample, as in `find_trim` of
/// libvips, which takes ten times as long. That is so if five of the nine pixels lie on the same side beyond it.
struct SpeckScan {
    private(set) var area: PixelArea?
    /// For each band and sample, a 1 in the byte of the side of the border on which the sample lies; two bytes a band.
    private let sides: [[UInt64]]
    /// The sides of the pixels of three rows, with the outermost pixels repeated beyond both ends.
    private var rows: [[UInt64]] = []

    /// The rows that are held at once.
    private static let stripRows = 256

    /// Scans an image of 8-bit samples.
    ///
    /// - Parameter border: a sample for each band, of which there are at most 4.
    init(
        _ image: VipsImage, border: [Double], threshold: Int, interrupt: @escaping Interrupt
    ) throws(VipsError) {
        sides = border.prefix(image.bands).enumerated().map { band, border in
            (0...255).map { sample in
                let difference = sample - Int(border)
                guard abs(difference) > threshold else { return 0 }
                return 1 << (16 * UInt64(band) + (difference > 0 ? 8 : 0))
            }
        }
        for top in stride(from: 0, to: image.height, by: Self.stripRows) {
            let size = PixelSize(width: image.width, height: min(Self.stripRows, image.height - top))
            let strip = try image.extracting(x: 0, y: top, size: size).rendered(interrupt: interrupt)
            try strip.withSamples { samples in
                for row in 0..<size.height {
                    let start = row * size.width * image.bands
                    append(sides(of: samples, start: start, width: size.width, bands: image.bands), y: top + row)
                }
            }
        }
        if let last = rows.last { append(last, y: image.height) }
    }

    private func sides(of samples: UnsafeRawBufferPointer, start: Int, width: Int, bands: Int) -> [UInt64] {
        [UInt64](unsafeUninitializedCapacity: width + 2) { sides, count in
            for x in 0..<width {
                var pixel: UInt64 = 0
                for band in self.sides.indices { pixel |= self.sides[band][Int(samples[start + x * bands + band])] }
                sides[x + 1] = pixel
            }
            (sides[0], sides[width + 1]) = (sides[1], sides[width])
            count = width + 2
        }
    }

    /// Appends a row, which completes the neighbors of the row before it.
    private mutating func append(_ row: [UInt64], y: Int) {
        rows = rows.isEmpty ? [row, row] : rows.suffix(2) + [row]
        guard rows.count == 3 else { return }
        let width = row.count - 2
        guard let first = (0..<width).first(where: counts) else { return }
        let last = (max(first, area?.right ?? 0)..<width).last(where: counts) ?? first
        let found = PixelArea(left: first, top: y - 1, right: last + 1, bottom: y)
        area = area?.union(found) ?? found
    }

    /// Whether five of the nine pixels around column `x` lie on the same side.
    private func counts(_ x: Int) -> Bool {
        var sum: UInt64 = 0
        for row in rows { sum += row[x] + row[x + 1] + row[x + 2] }
        return (sum + 0x7B7B_7B7B_7B7B_7B7B) & 0x8080_8080_8080_8080 != 0
    }
}
