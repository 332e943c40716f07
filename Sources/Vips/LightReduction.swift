import DarkroomCResampling
import DarkroomCVips
import Foundation

/// One axis of a reduction in linear light: a box shrink by an integer factor if pixels are reduced to a quarter or
/// less, then a Lanczos reduction by the remaining factor. Each output pixel is exactly at its position.
package struct LightAxis: Hashable, Sendable {
    /// The factor of the box shrink.
    package let shrink: Int
    /// Boxes in the sum of each output pixel.
    package let taps: Int
    /// The first box of each output pixel.
    package let starts: [Int32]
    /// For each output pixel, one weight for each tap. Their sum is ``unit``.
    package let weights: [Int16]

    /// The sum of the weights of an output pixel.
    package static let unit = 1 << 14

    /// Nil if boxes would be so large that sums overflow.
    ///
    /// - Parameters:
    ///   - count: raster pixels on this axis. Pixels beyond both ends are copies of the first and the last.
    ///   - origin: where the whole image begins on the raster.
    ///   - length: the whole image's length in raster pixels; `length / target` is at least 1.
    ///   - target: output pixels.
    package init?(count: Int, origin: Double, length: Double, target: Int) {
        let factor = length / Double(target)
        let shrink = max(Int(factor / 2), 1)
        guard shrink <= Self.largestShrink else { return nil }
        let boxes = (count + shrink - 1) / shrink
        let scale = max(factor / Double(shrink), 1)
        let taps = (Int((2 * Self.radius * scale).rounded(.up)) + 1) / 2 * 2
        var starts: [Int32] = []
        var weights: [Int16] = []
        starts.reserveCapacity(target)
        weights.reserveCapacity(target * taps)
        for index in 0..<target {
            let center = (origin + (Double(index) + 0.5) * factor) / Double(shrink) - 0.5
            let first = Int((center - Self.radius * scale).rounded(.down)) + 1
            let start = min(max(first, 0), max(boxes - taps, 0))
            var sums = [Double](repeating: 0, count: taps)
            for box in first...Int(center + Self.radius * scale) {
                sums[min(max(box, 0), boxes - 1) - start] += Self.lanczos((Double(box) - center) / scale)
            }
            starts.append(Int32(start))
            weights += Self.rounded(sums)
        }
        (self.shrink, self.taps, self.starts, self.weights) = (shrink, taps, starts, weights)
    }

    /// Weights whose sum is exactly ``unit``: each has the rounding error of the weights before it added.
    private static func rounded(_ sums: [Double]) -> [Int16] {
        let scale = Double(unit) / sums.reduce(0, +)
        var (sum, done) = (0.0, 0)
        return sums.map { weight in
            sum += weight * scale
            let next = Int(sum.rounded()) - done
            done += next
            return Int16(next)
        }
    }

    private static func lanczos(_ x: Double) -> Double {
        guard abs(x) > 1e-9 else { return 1 }
        guard abs(x) < radius else { return 0 }
        return radius * sin(.pi * x) * sin(.pi * x / radius) / (.pi * .pi * x * x)
    }

    private static let radius = 3.0
    /// Sums of the light in a square box fit 32 bits.
    private static let largestShrink = 250
}

extension VipsImage {
    /// The lazy image of these axes, averaged in linear light.
    ///
    /// - Parameter detail: what the light of a pixel lacks, where a decoder has averaged samples as they are stored: 0
    ///   to 1.9 times the square of its difference from its neighbors, where 1 is white.
    /// - Precondition: one or three bands of 8 bits on the sRGB curve.
    package func reducedInLight(
        columns: LightAxis, rows: LightAxis, detail: Double = 0
    ) throws(VipsError) -> VipsImage {
        precondition(isByte && (bands == 1 || bands == 3), "only opaque images of 8 bits are reduced in light")
        let reduced = columns.lending { columns in
            rows.lending { rows in
                withUnsafePointer(to: columns) { columns in
                    withUnsafePointer(to: rows) { rows in darkroom_light_reduce(pointer, columns, rows, detail) }
                }
            }
        }
        guard let reduced else { throw .taken(after: "reducing in light") }
        return VipsImage(taking: reduced.assumingMemoryBound(to: DarkroomCVips.VipsImage.self))
    }
}

extension LightAxis {
    /// Lends the axis to `body`.
    fileprivate func lending<Result>(_ body: (darkroom_light_axis) -> Result) -> Result {
        starts.withUnsafeBufferPointer { starts in
            weights.withUnsafeBufferPointer { weights in
                guard let first = starts.baseAddress, let weight = weights.baseAddress else {
                    preconditionFailure("an axis has an output pixel")
                }
                return body(
                    darkroom_light_axis(
                        shrink: Int32(shrink), taps: Int32(taps), count: Int32(starts.count), starts: first,
                        weights: weight))
            }
        }
    }
}
