import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// The pixels of an encoded result, as a viewer would see them: sRGB, 8 bits.
struct Pixels {
    let width: Int
    let height: Int
    let bands: Int
    let samples: [UInt8]

    var size: PixelSize { PixelSize(width: width, height: height) }

    init(_ image: VipsImage) throws {
        let image = try image.convertedToSRGB()
        width = image.width
        height = image.height
        bands = image.bands
        samples = Array(try image.samples().readableBytesView)
    }

    /// - Parameter frame: counted from 0.
    init(_ body: ByteBuffer, frame: Int = 0) throws {
        let loader = try #require(SourceFormat(sniffing: body)?.row.loader)
        self = try loader.withImage(of: body, frame == 0 ? [:] : ["page": .int(frame)]) {
            lazy throws(VipsError) in try lazy.rendered()
        }.asPixels()
    }

    /// Red, green, blue and alpha, if there is one.
    subscript(x: Int, y: Int) -> [Int] {
        samples[((y * width + x) * bands)..<((y * width + x + 1) * bands)].map(Int.init)
    }

    /// The largest difference of a channel between two colors.
    func distance(x: Int, y: Int, to color: [Int]) -> Int {
        zip(self[x, y], color).map { abs($0 - $1) }.max() ?? 255
    }

    func luminance(x: Int, y: Int) -> Double {
        let sample = self[x, y]
        return 0.299 * Double(sample[0]) + 0.587 * Double(sample[1]) + 0.114 * Double(sample[2])
    }

    /// Whether every pixel is within `tolerance` of `color`.
    func isFlat(_ color: [Int], tolerance: Int = 0) -> Bool {
        (0..<height).allSatisfy { y in
            (0..<width).allSatisfy { x in distance(x: x, y: y, to: color) <= tolerance }
        }
    }

    /// A difference hash: which of two neighbors is brighter, on a grid of 9×8 means. Survives scaling and recoding.
    var differenceHash: UInt64 {
        var hash: UInt64 = 0
        for row in 0..<8 {
            for column in 0..<8 {
                hash = hash << 1 | (mean(column, row) < mean(column + 1, row) ? 1 : 0)
            }
        }
        return hash
    }

    /// The number of different bits of two images' hashes; small for images of one scene.
    func hashDistance(to other: Pixels) -> Int {
        (differenceHash ^ other.differenceHash).nonzeroBitCount
    }

    /// The mean difference of samples of two images of one size.
    func meanDistance(to other: Pixels) -> Double {
        let sum = zip(samples, other.samples).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        return Double(sum) / Double(samples.count)
    }

    private func mean(_ column: Int, _ row: Int) -> Double {
        let columns = (column * width / 9)..<max((column + 1) * width / 9, column * width / 9 + 1)
        let rows = (row * height / 8)..<max((row + 1) * height / 8, row * height / 8 + 1)
        let sum = rows.reduce(0.0) { sum, y in columns.reduce(sum) { $0 + luminance(x: $1, y: y) } }
        return sum / Double(columns.count * rows.count)
    }
}

extension VipsImage {
    func asPixels() throws -> Pixels { try Pixels(self) }
}
