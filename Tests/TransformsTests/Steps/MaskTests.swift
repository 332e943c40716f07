import DarkroomRequests
import Foundation
import Testing

@testable import DarkroomTransforms

struct MaskTests {
    private let green = [10, 120, 60]

    private func cut(
        _ width: Int, _ height: Int, output: OutputFormat = .png, _ change: (inout Recipe) -> Void
    ) throws -> Pixels {
        let source = try Drawing.flat(width, height, [10, 120, 60]).png()
        return try Pixels(produce(source, .with(change), output: OutputOptions(format: output)).body)
    }

    @Test(arguments: [
        // A point within the shape and one outside, in percent of a square.
        (MaskShape.circle, [50, 3], [10, 10]), (.ellipse, [50, 3], [10, 10]), (.triangle, [50, 20], [15, 50]),
        (.triangle180, [50, 80], [15, 50]), (.pentagon, [50, 5], [10, 10]), (.pentagon180, [50, 95], [10, 90]),
        (.hexagon, [50, 5], [4, 50]), (.square, [50, 5], [20, 20]), (.star, [50, 12], [50, 90]),
        (.heart, [50, 90], [50, 5]),
    ])
    func `Each shape shows what is within and nothing else`(
        _ shape: MaskShape, _ inside: [Int], _ outside: [Int]
    ) throws {
        let pixels = try cut(200, 200) { $0.mask = shape }
        #expect(pixels.size == PixelSize(width: 200, height: 200))
        #expect(pixels[100, 100] == green + [255])
        #expect(pixels[inside[0] * 2, inside[1] * 2] == green + [255])
        // The colors outside are gone too.
        #expect(pixels[outside[0] * 2, outside[1] * 2] == [0, 0, 0, 0])
        for corner in [(0, 0), (199, 0), (0, 199), (199, 199)] where shape != .triangle && shape != .triangle180 {
            #expect(pixels[corner.0, corner.1][3] == 0)
        }
    }

    @Test func `A circle has the area of its formula, and smooth edges`() throws {
        let pixels = try cut(200, 100) { $0.mask = .circle }
        var sum = 0
        var partial = 0
        for y in 0..<100 {
            for x in 0..<200 {
                sum += pixels[x, y][3]
                partial += (1...254).contains(pixels[x, y][3]) ? 1 : 0
            }
        }
        #expect(abs(Double(sum) / 255 - .pi * 2500) < 20)
        #expect((150...600).contains(partial))
        #expect(pixels[50, 50][3] > 0 && pixels[49, 50][3] == 0 && pixels[149, 50][3] > 0 && pixels[150, 50][3] == 0)
    }

    @Test func `An ellipse fills the image, other shapes keep their proportions`() throws {
        #expect(try cut(200, 100) { $0.mask = .ellipse }[4, 50][3] == 255)
        #expect(try cut(200, 100) { $0.mask = .square }[48, 50][3] == 0)
        #expect(Outline.shape(.heart).bounds(in: PixelSize(width: 320, height: 900)).size.height == 289)
    }

    @Test(arguments: MaskShape.allCases)
    func `A trimmed mask is as large as its shape and touches every side`(_ shape: MaskShape) throws {
        let pixels = try cut(150, 220) {
            $0.mask = shape
            $0.trimsMask = true
        }
        #expect(pixels.size == Outline.shape(shape).bounds(in: PixelSize(width: 150, height: 220)).size)
        #expect(max(pixels.width * 22, pixels.height * 15) == 3300)
        let columns = (0..<pixels.width)
        let rows = (0..<pixels.height)
        #expect(columns.contains { pixels[$0, 0][3] > 0 } && columns.contains { pixels[$0, pixels.height - 1][3] > 0 })
        #expect(rows.contains { pixels[0, $0][3] > 0 } && rows.contains { pixels[pixels.width - 1, $0][3] > 0 })
    }

    @Test func `A background fills the surroundings, and an opaque image stays opaque`() throws {
        let pixels = try cut(100, 100) {
            $0.mask = .circle
            $0.maskBackground = Color(red: 200, green: 0, blue: 0)
        }
        #expect(pixels.bands == 3)
        #expect(pixels[0, 0] == [200, 0, 0] && pixels[50, 50] == green)
        let half = try cut(100, 100) {
            $0.mask = .circle
            $0.maskBackground = Color(red: 200, green: 0, blue: 0, alpha: 128)
        }
        #expect(half[0, 0] == [200, 0, 0, 128] && half[50, 50] == green + [255])
    }

    @Test func `Transparency within the shape stays, also on a background`() throws {
        let source = try Drawing.flat(60, 60, [10, 120, 60, 100]).png()
        let cut = try Pixels(produce(source, .with { $0.mask = .circle }).body)
        #expect(cut[30, 30] == green + [100] && cut[0, 0][3] == 0)
        let filled = try Pixels(
            produce(
                source,
                .with {
                    $0.mask = .circle
                    $0.maskBackground = .white
                }
            ).body)
        #expect(filled[30, 30] == green + [100] && filled[0, 0] == [255, 255, 255, 255])
    }

    @Test func `An opaque image on an opaque background has no seam along the line`() throws {
        let source = try Drawing.flat(60, 60, [90, 90, 90, 255]).png()
        let grey = Color(red: 90, green: 90, blue: 90)
        for shape in MaskShape.allCases {
            let recipe = Recipe.with {
                $0.mask = shape
                $0.maskBackground = grey
            }
            #expect(try Pixels(produce(source, recipe).body).isFlat([90, 90, 90, 255], tolerance: 1), "\(shape)")
        }
    }

    @Test func `A format without alpha gets the background or white, and no format stays JPEG with round corners`()
        throws
    {
        let jpeg = try cut(100, 100, output: .jpeg) { $0.radius = CornerRadii(.pixels(30)) }
        #expect(jpeg.distance(x: 1, y: 1, to: [255, 255, 255]) <= 12)
        let blue = try cut(100, 100, output: .jpeg) {
            $0.radius = CornerRadii(.pixels(30))
            $0.background = Color(red: 0, green: 0, blue: 255)
        }
        #expect(blue.distance(x: 1, y: 1, to: [0, 0, 255]) <= 20)
        let source = try Drawing.flat(50, 50, [10, 120, 60]).jpeg()
        let round = Recipe.with { $0.radius = CornerRadii(.pixels(30)) }
        #expect(try produce(source, round, output: OutputOptions()).format == .png)
        var filled = round
        filled.background = .white
        #expect(try produce(source, filled, output: OutputOptions()).format == .jpeg)
    }

    @Test func `Each corner has its own radius, in pixels or percent of its side`() throws {
        let pixels = try cut(200, 100) {
            $0.radius = CornerRadii(
                topLeft: .pixels(0), topRight: .pixels(40), bottomRight: .percent(20), bottomLeft: .pixels(3))
        }
        #expect(pixels[0, 0][3] == 255)
        #expect(pixels[195, 4][3] == 0 && pixels[199, 45][3] == 255 && pixels[158, 0][3] == 255)
        // 40 pixels across, 20 down.
        #expect(pixels[197, 97][3] == 0 && pixels[199, 78][3] == 255 && pixels[158, 99][3] == 255)
        #expect(pixels[165, 99][3] < 255)
        #expect(pixels[0, 99][3] < 128 && pixels[4, 95][3] == 255)
    }

    @Test func `Half of both sides is an ellipse, and radii that overlap are reduced alike`() throws {
        let ellipse = try cut(200, 100) { $0.mask = .ellipse }
        #expect(try cut(200, 100) { $0.radius = CornerRadii(.percent(50)) }.meanDistance(to: ellipse) < 0.2)
        let pill = try cut(200, 100) { $0.radius = CornerRadii(.pixels(9999)) }
        #expect(pill.meanDistance(to: try cut(200, 100) { $0.radius = CornerRadii(.pixels(50)) }) == 0)
        #expect(pill[50, 0][3] > 200 && pill[2, 2][3] == 0)
    }

    @Test(arguments: [OutputFormat.webp, .gif])
    func `Every frame of an animation is cut alike`(_ format: OutputFormat) throws {
        let recipe = Recipe.with {
            $0.mask = .circle
            $0.trimsMask = true
        }
        let result = try produce(
            Fixture.image("animation/disposal.gif"), recipe, output: OutputOptions(format: format, lossless: true))
        #expect(result.frames == 4 && result.size.width == result.size.height)
        for frame in 0..<4 {
            let pixels = try Pixels(result.body, frame: frame)
            #expect(pixels[0, 0][3] == 0)
        }
        #expect(try Pixels(result.body, frame: 1)[10, result.size.height / 2][3] == 255)
    }

    @Test func `A photograph within a shape is the same photograph`() throws {
        let source = try Fixture.image("sample.jpg")
        let plain = try Pixels(produce(source, .box(160, 160, fit: .cover)).body)
        var recipe = Recipe.box(160, 160, fit: .cover)
        recipe.mask = .ellipse
        recipe.maskBackground = .black
        let masked = try Pixels(produce(source, recipe).body)
        for (x, y) in [(80, 80), (40, 60), (120, 110)] { #expect(plain[x, y] == masked[x, y]) }
        #expect(plain.hashDistance(to: masked) <= 24)
    }

    @Test(arguments: MaskShape.allCases, [[1, 1], [1, 90], [2, 3], [90, 1]])
    func `The smallest images have a mask too`(_ shape: MaskShape, _ size: [Int]) throws {
        let pixels = try cut(size[0], size[1]) {
            $0.mask = shape
            $0.trimsMask = true
        }
        #expect((1...size[0]).contains(pixels.width) && (1...size[1]).contains(pixels.height))
    }
}
