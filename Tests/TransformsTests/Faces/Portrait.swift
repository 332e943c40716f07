import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// A photograph of 260 by 220 pixels with one face, whose side is a third of its width.
enum Portrait {
    static func file() throws -> ByteBuffer {
        try Fixture.bytes(Fixture.root.appendingPathComponent("faces/astronaut.jpg"))
    }

    static func image() throws -> VipsImage {
        let loader = try #require(SourceFormat.jpeg.row.loader)
        return try loader.withImage(of: try file()) { lazy throws(VipsError) in try lazy.rendered() }
    }

    /// The photograph at the left or the right end of a plain canvas.
    static func onCanvas(atRight: Bool) throws -> ByteBuffer {
        let image = try image()
        return try image.embedded(
            in: PixelSize(width: 460, height: image.height), x: atRight ? 460 - image.width : 0, y: 0, on: plain
        ).png()
    }

    /// The color of the canvas.
    static let plain = Color(red: 90, green: 90, blue: 90, alpha: 255)

    /// The middle of the face.
    static let center = (x: 127, y: 118)
}
