import DarkroomVips
import NIOCore

/// A picture of at most 100 pixels a side, in sRGB with straight alpha: as much as hashes and colours need.
struct Thumbnail {
    let width: Int
    let height: Int
    /// Row by row.
    let pixels: [Color]

    /// The longest side.
    static let maxSide = 100

    /// - Parameter image: of at most that size.
    init(_ image: VipsImage, interrupt: @escaping Interrupt) throws(VipsError) {
        let image = try image.convertedToSRGB().addingAlpha().rendered(interrupt: interrupt)
        let samples = Array(try image.samples().readableBytesView)
        self.init(
            width: image.width,
            pixels: stride(from: 0, to: samples.count - 3, by: 4).map { start in
                Color(
                    red: samples[start], green: samples[start + 1], blue: samples[start + 2],
                    alpha: samples[start + 3])
            })
    }

    /// - Parameter pixels: whole rows of `width` pixels.
    init(width: Int, pixels: [Color]) {
        self.width = width
        self.pixels = pixels
        height = pixels.count / width
    }

    /// Opaque pixels, as they look on white.
    var overWhite: [Color] {
        pixels.map { pixel in
            guard pixel.alpha < 255 else { return pixel }
            let (alpha, rest) = (Int(pixel.alpha), 255 * (255 - Int(pixel.alpha)) + 127)
            func mixed(_ sample: UInt8) -> UInt8 { UInt8((Int(sample) * alpha + rest) / 255) }
            return Color(red: mixed(pixel.red), green: mixed(pixel.green), blue: mixed(pixel.blue))
        }
    }
}
