import DarkroomRequests
import Testing

@testable import DarkroomTransforms

/// `min-w` and `min-h`.
struct LeastSizeTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var fit = Fit.inside
        var enlarge = false
        var source: [Int]
        var box: [Int?] = [nil, nil]
        var least: [Int?]
        var scaled: [Int]
        var canvas: [Int]?

        var testDescription: String { "\(fit) \(source) in \(box), at least \(least)" }
    }

    @Test(arguments: [
        Case(source: [200, 100], least: [300, nil], scaled: [300, 150]),
        Case(source: [200, 100], least: [300, 300], scaled: [600, 300]),
        Case(source: [400, 300], least: [300, 300], scaled: [400, 300]),
        Case(source: [3000, 200], box: [300, nil], least: [nil, 200], scaled: [3000, 200], canvas: [300, 200]),
        Case(source: [3000, 20], box: [300, 300], least: [nil, 100], scaled: [15000, 100], canvas: [300, 100]),
        Case(source: [200, 100], box: [400, 400], least: [300, nil], scaled: [300, 150]),
        Case(
            fit: .cover, source: [200, 100], box: [400, 400], least: [300, nil], scaled: [600, 300], canvas: [300, 300]),
        Case(
            fit: .cover, source: [900, 900], box: [400, 200], least: [300, 100], scaled: [400, 400], canvas: [400, 200]),
        Case(fit: .fill, source: [100, 200], box: [400, 400], least: [300, 350], scaled: [350, 350]),
        Case(fit: .outside, source: [100, 50], box: [400, 400], least: [300, nil], scaled: [300, 150]),
        Case(
            fit: .contain, source: [100, 50], box: [400, 400], least: [300, 300], scaled: [100, 50], canvas: [400, 400]),
    ])
    func `A result is at least so large, with its aspect ratio, and within its box`(_ row: Case) {
        let box = Box(
            horizontal: row.box[0].map(Length.pixels), vertical: row.box[1].map(Length.pixels),
            minWidth: row.least[0], minHeight: row.least[1])
        let geometry = ResizeGeometry(
            source: PixelSize(width: row.source[0], height: row.source[1]), box: box, fit: row.fit,
            enlarge: row.enlarge)
        #expect([geometry.scaled.width, geometry.scaled.height] == row.scaled)
        #expect([geometry.canvas.width, geometry.canvas.height] == row.canvas ?? row.scaled)
    }

    @Test func `Random results reach their least size, keep their ratio and stay within their box`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<5_000 {
            let source = PixelSize(
                width: .random(in: 1...2_000, using: &random), height: .random(in: 1...2_000, using: &random))
            let width = Bool.random(using: &random) ? Int.random(in: 1...900, using: &random) : nil
            let height = Bool.random(using: &random) ? Int.random(in: 1...900, using: &random) : nil
            let least = PixelSize(
                width: .random(in: 1...(width ?? 900), using: &random),
                height: .random(in: 1...(height ?? 900), using: &random))
            let box = Box(
                horizontal: width.map(Length.pixels), vertical: height.map(Length.pixels), minWidth: least.width,
                minHeight: least.height)
            for fit in Fit.allCases {
                let geometry = ResizeGeometry(
                    source: source, box: box, fit: fit, enlarge: .random(using: &random))
                #expect(geometry.canvas.width >= least.width && geometry.canvas.height >= least.height)
                guard fit == .inside || fit == .cover || box.size == nil else { continue }
                #expect(geometry.canvas.width <= width ?? .max && geometry.canvas.height <= height ?? .max)
                #expect(geometry.scaled.united(with: geometry.canvas) == geometry.scaled)
                let ratio = Double(source.width) / Double(source.height)
                let (across, down) = (Double(geometry.scaled.width), Double(geometry.scaled.height))
                #expect(abs(across - down * ratio) <= max(1, ratio) + 1 || abs(down - across / ratio) <= 2)
            }
        }
    }

    @Test func `What exceeds the box is cropped where the position says`() throws {
        var recipe = Recipe.with { $0.box = Box(horizontal: .pixels(20), vertical: nil, minHeight: 20) }
        let centered = try Pixels(produce(Drawing.quarters(80, 20).png(), recipe).body)
        #expect(centered.size == PixelSize(width: 20, height: 20))
        #expect(centered.distance(x: 3, y: 3, to: Drawing.red.map(Int.init)) <= 2)
        #expect(centered.distance(x: 16, y: 16, to: Drawing.yellow.map(Int.init)) <= 2)
        recipe.position = .anchor(x: 1, y: 0.5)
        let right = try Pixels(produce(Drawing.quarters(80, 20).png(), recipe).body)
        #expect(right.distance(x: 3, y: 3, to: Drawing.green.map(Int.init)) <= 2)
    }

    @Test func `A least size enlarges an animation, all frames alike`() throws {
        let recipe = Recipe.with { $0.box = Box(horizontal: nil, vertical: nil, minWidth: 130) }
        let source = try Fixture.image("animation/disposal.gif")
        let plain = try produce(source, output: OutputOptions(format: .webp))
        let large = try produce(source, recipe, output: OutputOptions(format: .webp))
        #expect(large.size.width == max(130, plain.size.width))
        #expect(large.frames == plain.frames && large.frames > 1)
    }
}
