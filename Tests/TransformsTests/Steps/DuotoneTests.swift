import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct DuotoneTests {
    private let navyToGold = Duotone(
        shadow: Color(red: 0, green: 0, blue: 128), highlight: Color(red: 255, green: 215, blue: 0))

    @Test func `Black becomes the shadow, white the highlight, and gray lies between them`() throws {
        let ramp = try Drawing.image(3, 1) { x, _ in [[UInt8(0), 0, 0], [128, 128, 128], [255, 255, 255]][x] }
        let pixels = try apply(navyToGold, to: ramp)
        #expect(pixels[0, 0] == [0, 0, 128] && pixels[2, 0] == [255, 215, 0])
        #expect(pixels.distance(x: 1, y: 0, to: [128, 108, 64]) <= 3)
    }

    @Test func `Colors of equal luminance become one color, and alpha is kept`() throws {
        let image = try Drawing.image(2, 1) { x, _ in x == 0 ? [255, 0, 0, 9] : [127, 127, 127, 200] }
        let pixels = try apply(navyToGold, to: image)
        #expect(pixels[0, 0][3] == 9 && pixels[1, 0][3] == 200)
        #expect(pixels.distance(x: 0, y: 0, to: Array(pixels[1, 0][..<3])) <= 4)
    }

    @Test func `A photograph in two colors is still the same image`() throws {
        let source = try Fixture.image("formats/photo.jpg")
        let made = try Pixels(produce(source, .with { $0.duotone = navyToGold }).body)
        let gray = try Pixels(produce(source, .with { $0.filter = .greyscale }).body)
        #expect(made.size == gray.size && made.hashDistance(to: gray) <= 6)
    }

    @Test func `The order of the colors is in the key, and their alpha is not`() {
        let swapped = Duotone(shadow: navyToGold.highlight, highlight: navyToGold.shadow)
        #expect(swapped.key != navyToGold.key)
        var translucent = navyToGold.shadow
        translucent.alpha = 3
        #expect(Duotone(shadow: translucent, highlight: navyToGold.highlight) == navyToGold)
    }

    @Test func `Every frame of an animation has the two colors only`() throws {
        let source = try Fixture.image("animation/disposal.gif")
        let recipe = Recipe.with { $0.duotone = navyToGold }
        let made = try produce(source, recipe, output: OutputOptions(format: .webp, lossless: true))
        #expect(made.frames == 4)
        for frame in 0..<4 {
            let pixels = try Pixels(made.body, frame: frame)
            let visible = stride(from: 0, to: pixels.samples.count, by: pixels.bands).filter {
                pixels.bands == 3 || pixels.samples[$0 + 3] > 0
            }
            #expect(!visible.isEmpty)
            for pixel in visible {
                let (red, green) = (Int(pixels.samples[pixel]), Int(pixels.samples[pixel + 1]))
                #expect(abs(green * 255 - red * 215) <= 255)
            }
        }
    }
}
