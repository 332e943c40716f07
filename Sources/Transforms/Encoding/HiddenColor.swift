import DarkroomVips

extension VipsImage {
    /// The image with the colors of its visible pixels continued behind the transparent ones. Only they change.
    ///
    /// An encoder that halves chroma and quantizes blocks mixes the colors of neighbors, visible or not: without this,
    /// black or white behind transparent pixels makes an edge darker or lighter. A transparent pixel gets the mean of
    /// the visible ones in the smallest square of 2, 4, 8, … pixels that has any, so that plain areas stay plain, and
    /// the colors that a source or a step has hidden are not encoded.
    func continuingColors() throws(VipsError) -> VipsImage {
        guard isByte, bands == 4 else { return self }
        let (width, height) = (self.width, self.height)
        return try withSamples { samples throws(VipsError) -> VipsImage in
            let isHidden = stride(from: 3, to: samples.count, by: 4).contains { samples[$0] == 0 }
            guard isHidden, let sums = ColorSums.filled(samples, width: width, height: height) else { return self }
            let canvas = try VipsCanvas(self)
            for y in 0..<height {
                var row = Array(samples[(y * width * 4)..<((y + 1) * width * 4)])
                for x in 0..<width where row[4 * x + 3] == 0 {
                    let color = sums.color(x: x, y: y)
                    for band in 0..<3 { row[4 * x + band] = color[band] }
                }
                canvas.write(row, row: y)
            }
            return canvas.image
        }
    }
}

/// The sums of an image's visible colors, for each square of some side.
private struct ColorSums {
    private let width: Int
    private let height: Int
    /// Red, green and blue, each multiplied by alpha, and alpha.
    private var cells: [SIMD4<Float>]

    /// The squares of 2 by 2 pixels. A square without a visible pixel has the sums of the next larger square with one.
    ///
    /// Nil if no pixel is visible.
    static func filled(_ samples: UnsafeRawBufferPointer, width: Int, height: Int) -> ColorSums? {
        var levels = [ColorSums(samples, width: width, height: height)]
        while let last = levels.last, last.cells.count > 1 { levels.append(ColorSums(joining: last)) }
        guard var larger = levels.popLast(), larger.cells[0].w > 0 else { return nil }
        while var level = levels.popLast() {
            level.fill(from: larger)
            larger = level
        }
        return larger
    }

    /// The mean color of the square at a pixel.
    func color(x: Int, y: Int) -> SIMD4<UInt8> {
        let sum = cells[y / 2 * width + x / 2]
        return SIMD4<UInt8>(sum / sum.w + 0.5)
    }

    private init(_ samples: UnsafeRawBufferPointer, width: Int, height: Int) {
        self.init(width: (width + 1) / 2, height: (height + 1) / 2)
        for y in 0..<height {
            for x in 0..<width {
                let pixel = (y * width + x) * 4
                let color = SIMD4<UInt8>(samples[pixel], samples[pixel + 1], samples[pixel + 2], 1)
                cells[y / 2 * self.width + x / 2] += SIMD4<Float>(color) * Float(samples[pixel + 3])
            }
        }
    }

    /// The squares of twice the side.
    private init(joining sums: ColorSums) {
        self.init(width: (sums.width + 1) / 2, height: (sums.height + 1) / 2)
        for y in 0..<sums.height {
            for x in 0..<sums.width { cells[y / 2 * width + x / 2] += sums.cells[y * sums.width + x] }
        }
    }

    private init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        cells = Array(repeating: .zero, count: width * height)
    }

    private mutating func fill(from larger: ColorSums) {
        for y in 0..<height {
            for x in 0..<width where cells[y * width + x].w == 0 {
                cells[y * width + x] = larger.cells[y / 2 * larger.width + x / 2]
            }
        }
    }
}
