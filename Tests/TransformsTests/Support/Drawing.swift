import DarkroomVips
import NIOCore

@testable import DarkroomTransforms

/// Images drawn by tests.
enum Drawing {
    /// `color` gives the samples of a pixel: gray, RGB or RGBA.
    static func image(_ width: Int, _ height: Int, _ color: (Int, Int) -> [UInt8]) throws -> VipsImage {
        var samples: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width { samples += color(x, y) }
        }
        let bands = samples.count / (width * height)
        let image = try VipsImage.fromBytes(samples, width: width, height: height, bands: bands)
        return try image.applying("copy", ["interpretation": bands < 3 ? "b-w" : "srgb"])
    }

    static func flat(_ width: Int, _ height: Int, _ color: [UInt8]) throws -> VipsImage {
        try image(width, height) { _, _ in color }
    }

    /// Each quarter in a color of its own: red, green, blue, yellow, row by row.
    static func quarters(_ width: Int, _ height: Int) throws -> VipsImage {
        try image(width, height) { x, y in
            switch (x < width / 2, y < height / 2) {
            case (true, true): red
            case (false, true): green
            case (true, false): blue
            case (false, false): yellow
            }
        }
    }

    /// A WebP animation of these frames, which have one size.
    static func animation(_ frames: [VipsImage]) throws -> ByteBuffer {
        try VipsSaver.webp.encode(
            VipsImage.stacked(frames).setting(ints: ["page-height": frames[0].height]), ["lossless": true])
    }

    /// An image of one component, strongly compressed.
    static func grayJPEG(of image: ByteBuffer) throws -> ByteBuffer {
        try VipsLoader.png.withImage(of: image) { lazy throws(VipsError) in
            try VipsSaver.jpeg.encode(lazy.applying("colourspace", ["space": "b-w"]), ["Q": 20])
        }
    }

    static let red: [UInt8] = [220, 30, 30]
    static let green: [UInt8] = [30, 160, 60]
    static let blue: [UInt8] = [30, 60, 200]
    static let yellow: [UInt8] = [240, 220, 40]
}

extension VipsImage {
    func png() throws(VipsError) -> ByteBuffer { try VipsSaver.png.encode(self) }

    func jpeg(quality: Int = 95) throws -> ByteBuffer {
        try VipsSaver.jpeg.encode(self, ["Q": .int(quality), "subsample_mode": "off"])
    }
}
