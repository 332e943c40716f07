import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct TintTests {
    @Test func `Every pixel takes the tint's hue and keeps its lightness`() throws {
        let ramp = try Drawing.image(3, 1) { x, _ in [[UInt8(60), 60, 60], [130, 130, 130], [200, 200, 200]][x] }
        let pixels = try apply(Tint(Color(red: 200, green: 60, blue: 60)), to: ramp)
        for x in 0..<3 { #expect(pixels[x, 0][0] > pixels[x, 0][1] + 20) }
        #expect(pixels.luminance(x: 0, y: 0) < pixels.luminance(x: 1, y: 0))
        #expect(pixels.luminance(x: 1, y: 0) < pixels.luminance(x: 2, y: 0))
    }

    @Test func `A gray tint removes color, and its alpha is not in the key`() throws {
        let pixels = try apply(Tint(Color(red: 128, green: 128, blue: 128)), to: Drawing.flat(4, 4, [200, 40, 40, 9]))
        #expect((pixels[0, 0][0] - pixels[0, 0][2]) <= 2)
        #expect(pixels[0, 0][3] == 9)
        #expect(Tint(.transparent).key == Tint(Color(red: 0, green: 0, blue: 0)).key)
    }
}
