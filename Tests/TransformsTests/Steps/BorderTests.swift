import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct BorderTests {
    private let red = Color(red: 255, green: 0, blue: 0)

    private func framed(_ width: Int = 80, _ height: Int = 60, _ change: (inout Recipe) -> Void = { _ in }) throws
        -> Pixels
    {
        let source = try Drawing.flat(width, height, [10, 120, 60]).png()
        return try Pixels(
            produce(
                source,
                .with {
                    $0.border = BorderStyle(width: 5, color: red)
                    change(&$0)
                }
            ).body)
    }

    @Test func `A border lies on the image: its size stays`() throws {
        let pixels = try framed()
        #expect(pixels.size == PixelSize(width: 80, height: 60) && pixels.bands == 3)
        for (x, y) in [(0, 0), (4, 30), (79, 59), (75, 30), (40, 4), (40, 55)] {
            #expect(pixels[x, y] == [255, 0, 0], "\(x) \(y)")
        }
        for (x, y) in [(5, 5), (5, 30), (74, 30), (40, 5), (40, 54)] {
            #expect(pixels[x, y] == [10, 120, 60], "\(x) \(y)")
        }
    }

    @Test func `A border follows round corners and shapes`() throws {
        let round = try framed { $0.radius = CornerRadii(.pixels(20)) }
        #expect(round[0, 0][3] == 0 && round[40, 2] == [255, 0, 0, 255])
        // On the diagonal, the line is 5.9 pixels from the corner.
        #expect(round[7, 7] == [255, 0, 0, 255] && round[12, 12] == [10, 120, 60, 255])
        let circle = try framed(60, 60) { $0.mask = .circle }
        #expect(circle[0, 0][3] == 0 && circle[30, 2] == [255, 0, 0, 255] && circle[30, 7] == [10, 120, 60, 255])
    }

    @Test func `A translucent border shows the image, and transparency stays`() throws {
        let mixed = try framed { $0.border?.color.alpha = 128 }
        #expect(mixed.distance(x: 1, y: 1, to: [133, 60, 30]) <= 2)
        let source = try Drawing.flat(40, 40, [10, 120, 60, 0]).png()
        let clear = try Pixels(produce(source, .with { $0.border = BorderStyle(width: 5, color: red) }).body)
        #expect(clear[2, 2] == [255, 0, 0, 255] && clear[20, 20][3] == 0)
    }

    @Test func `A border wider than half of the image covers it`() throws {
        #expect(try framed { $0.border?.width = 999 }.isFlat([255, 0, 0]))
    }

    @Test func `Every frame has the border`() throws {
        let recipe = Recipe.with { $0.border = BorderStyle(width: 6, color: red) }
        let result = try produce(
            Fixture.image("animation/opaque.gif"), recipe, output: OutputOptions(format: .webp, lossless: true))
        #expect(result.frames > 1)
        for frame in 0..<result.frames {
            let pixels = try Pixels(result.body, frame: frame)
            #expect(pixels.distance(x: 2, y: 2, to: [255, 0, 0]) <= 1)
        }
    }
}
