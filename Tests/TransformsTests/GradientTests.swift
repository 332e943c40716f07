import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Canvases of the drawing of a `color:` URL with two colors.
struct GradientTests {
    /// The drawing of a gradient from the upper left corner to the lower right one.
    private static func canvas(_ start: String, _ end: String, _ line: String) throws -> Pixels {
        let drawing = ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><defs>\
                <linearGradient id="g" gradientUnits="userSpaceOnUse" \(line)>\
                <stop offset="0" stop-color="\(start)" stop-opacity="1.0"/>\
                <stop offset="1" stop-color="\(end)" stop-opacity="1.0"/></linearGradient></defs>\
                <path d="M-1-1H2V2H-1z" fill="url(#g)"/></svg>
                """)
        return try Pixels(produce(drawing, .box(1200, 630, fit: .fill, enlarge: true)).body)
    }

    @Test func `A gradient is drawn at the size of its canvas, in steps that cannot be seen`() throws {
        let pixels = try Self.canvas("rgb(15,23,42)", "rgb(30,58,138)", "x1=\"0.0\" y1=\"0.0\" x2=\"1.0\" y2=\"1.0\"")
        #expect(pixels.size == PixelSize(width: 1200, height: 630))
        #expect(pixels.distance(x: 0, y: 0, to: [15, 23, 42]) <= 1)
        #expect(pixels.distance(x: 1199, y: 629, to: [30, 58, 138]) <= 1)
        for (x, y) in [(1199, 0), (0, 629), (600, 315)] { #expect(pixels.distance(x: x, y: y, to: [22, 40, 90]) <= 1) }
        let blue = (0..<1200).map { pixels[$0, 300][2] }
        #expect(zip(blue, blue.dropFirst()).allSatisfy { $1 - $0 >= 0 && $1 - $0 <= 1 })
        // Every level is there.
        #expect(Set(blue).count == blue[1199] - blue[0] + 1)
    }

    @Test func `A level gradient has one color in each column`() throws {
        let pixels = try Self.canvas("rgb(255,0,0)", "rgb(0,0,255)", "x1=\"0.0\" y1=\"0.5\" x2=\"1.0\" y2=\"0.5\"")
        for x in stride(from: 0, to: 1200, by: 37) {
            #expect((0..<630).allSatisfy { pixels.distance(x: x, y: $0, to: pixels[x, 0]) <= 1 })
        }
        #expect(
            pixels.distance(x: 0, y: 9, to: [255, 0, 0]) <= 1 && pixels.distance(x: 1199, y: 9, to: [0, 0, 255]) <= 1)
    }
}
