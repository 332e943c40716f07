import NIOCore
import Testing

@testable import DarkroomTransforms

struct SVGSourceTests {
    private func drawing(_ root: String) -> ByteBuffer {
        ByteBuffer(
            string: "<svg xmlns='http://www.w3.org/2000/svg' \(root)><rect width='999' height='999' fill='red'/></svg>")
    }

    @Test func `A drawing is drawn at the size asked for, not scaled up from its own`() throws {
        let source = drawing("width='10' height='10' viewBox='0 0 1000 1000'")
        let pixels = try Pixels(produce(source, .box(500)).body)
        #expect(pixels.size == PixelSize(width: 500, height: 500))
        #expect(pixels[490, 250] == [255, 0, 0, 255])
    }

    @Test func `A side too long for libvips is refused as too large, not drawn one pixel wide`() throws {
        for root in ["width='1000000000' height='10'", "width='10' height='1000000000'"] {
            let error = #expect(throws: ImageProcessingError.self) { try produce(drawing(root), .box(16)) }
            guard case .tooLarge = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(try produce(drawing("width='1' height='10'")).size == PixelSize(width: 1, height: 10))
    }

    @Test func `SVG never comes out as SVG`() throws {
        let result = try produce(drawing("width='10' height='10'"), output: OutputOptions())
        #expect(result.format == .png)
    }
}
