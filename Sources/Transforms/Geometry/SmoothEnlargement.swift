import DarkroomRequests
import DarkroomVips

/// Enlarges an image without detail, such as a blurred one, by a whole factor, with bicubic interpolation (Catmull-Rom)
/// about pixel centers.
///
/// libvips' `affine` computes the same in floating point for one sample at a time. Here, a pixel is a vector.
struct SmoothEnlargement {
    typealias Pixel = SIMD4<Float>

    /// Red, green, blue and alpha or less, with colors multiplied by alpha, row by row.
    let pixels: [Pixel]
    let size: PixelSize
    /// 1 to 4.
    let bands: Int
    let hasAlpha: Bool
    let factor: Int

    /// Copies the samples of an image of 32-bit floating point numbers.
    init(_ image: VipsImage, hasAlpha: Bool, by factor: Int) throws(VipsError) {
        let bands = image.bands
        guard image.sampleFormat == "float", (1...4).contains(bands) else {
            throw VipsError(operation: "enlargement", message: "\(bands) bands of \(image.sampleFormat)")
        }
        (size, self.bands, self.hasAlpha, self.factor) = (image.size, bands, hasAlpha, factor)
        pixels = try image.withSamples { samples throws(VipsError) in
            let values = samples.bindMemory(to: Float.self)
            return (0..<values.count / bands).map { index in
                var pixel = Pixel.zero
                for band in 0..<bands { pixel[band] = values[index * bands + band] }
                return pixel
            }
        }
    }

    /// The part of the enlarged image that begins one pixel of this image from the upper left corner, as 8-bit samples
    /// with straight alpha, with the size and the fields of an image.
    func drawn(like image: VipsImage, interrupt: Interrupt) throws(VipsError) -> VipsImage {
        let canvas = try VipsCanvas(image)
        var line = [Pixel](repeating: .zero, count: size.width)
        var samples = [UInt8](repeating: 0, count: image.width * bands)
        let phases = (0..<factor).map { Self.weights((Float($0) + 0.5) / Float(factor) + 0.5) }
        for row in 0..<image.height {
            if interrupt() { throw VipsError(operation: "enlargement", message: "interrupted") }
            combineRows(around: row / factor, phases[row % factor], into: &line)
            enlarge(line, phases, into: &samples)
            canvas.write(samples, row: row)
        }
        return canvas.image
    }

    /// The weights of the pixels before, at and after the two whole places around a place, and where they begin.
    private static func weights(_ place: Float) -> (first: Int, weights: Pixel) {
        let whole = place.rounded(.down)
        let (t, square) = (place - whole, (place - whole) * (place - whole))
        let cube = square * t
        return (
            Int(whole) - 1,
            Pixel(
                (2 * square - t - cube) / 2, 1 - 2.5 * square + 1.5 * cube, (t + 4 * square - 3 * cube) / 2,
                (cube - square) / 2)
        )
    }

    private func combineRows(
        around row: Int, _ phase: (first: Int, weights: Pixel), into line: inout [Pixel]
    ) {
        line.withUnsafeMutableBufferPointer { line in
            for place in 0..<4 {
                let start = min(max(row + phase.first + place, 0), size.height - 1) * size.width
                let weight = phase.weights[place]
                for column in 0..<size.width {
                    let part = pixels[start + column] * weight
                    line[column] = place == 0 ? part : line[column] + part
                }
            }
        }
    }

    private func enlarge(
        _ line: [Pixel], _ phases: [(first: Int, weights: Pixel)], into samples: inout [UInt8]
    ) {
        let (last, columns) = (line.count - 1, samples.count / bands)
        line.withUnsafeBufferPointer { line in
            samples.withUnsafeMutableBufferPointer { samples in
                for start in stride(from: 0, to: columns, by: factor) {
                    for offset in 0..<min(factor, columns - start) {
                        let (first, weights) = phases[offset]
                        let place = start / factor + first
                        var mixed = line[min(max(place, 0), last)] * weights[0]
                        mixed += line[min(place + 1, last)] * weights[1]
                        mixed += line[min(place + 2, last)] * weights[2]
                        mixed += line[min(place + 3, last)] * weights[3]
                        store(mixed, at: (start + offset) * bands, in: samples)
                    }
                }
            }
        }
    }

    @inline(__always)
    private func store(_ pixel: Pixel, at index: Int, in samples: UnsafeMutableBufferPointer<UInt8>) {
        var pixel = pixel
        if hasAlpha {
            let alpha = pixel[bands - 1]
            pixel *= alpha > 0 ? 255 / alpha : 0
            pixel[bands - 1] = alpha
        }
        pixel.clamp(lowerBound: .zero, upperBound: Pixel(repeating: 255))
        let bytes = SIMD4<UInt8>(truncatingIfNeeded: unsafeBitCast(pixel + Self.shift, to: SIMD4<UInt32>.self))
        for band in 0..<bands { samples[index + band] = bytes[band] }
    }

    /// The last bits of its sum with a number are that number, rounded.
    private static let shift = Pixel(repeating: 0x1p23)
}
