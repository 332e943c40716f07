import DarkroomRequests
import DarkroomVips
import NIOCore

/// An image of at most 100 pixels per side, in sRGB with straight alpha, for hashes and colors.
struct Thumbnail {
    let width: Int
    let height: Int
    /// Row by row.
    let pixels: [Color]

    static let maxSide = 100

    /// - Parameter image: an image of at most `maxSide` pixels per side.
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

    /// - Parameter pixels: complete rows of `width` pixels.
    init(width: Int, pixels: [Color]) {
        self.width = width
        self.pixels = pixels
        height = pixels.count / width
    }

    /// The pixels on a white background.
    var overWhite: [Color] {
        pixels.map { pixel in
            guard pixel.alpha < 255 else { return pixel }
            let (alpha, rest) = (Int(pixel.alpha), 255 * (255 - Int(pixel.alpha)) + 127)
            func mixed(_ sample: UInt8) -> UInt8 { UInt8((Int(sample) * alpha + rest) / 255) }
            return Color(red: mixed(pixel.red), green: mixed(pixel.green), blue: mixed(pixel.blue))
        }
    }
}
