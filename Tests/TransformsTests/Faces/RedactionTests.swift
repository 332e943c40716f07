import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Nothing of a face that is found is left in a result.
@Suite(.enabled(if: FaceDetector.isBuiltIn))
struct RedactionTests {
    private func hidden(_ style: Redaction.Style, _ change: (inout Recipe) -> Void = { _ in }) -> Recipe {
        var recipe = Recipe.with(change)
        recipe.redaction = Redaction(style)
        return recipe
    }

    /// The colors of the pixels around the middle of the face.
    private func colors(_ pixels: Pixels, reach: Int = 30) -> Set<[Int]> {
        let (x, y) = Portrait.center
        return Set(
            (-reach...reach).flatMap { across in (-reach...reach).map { Array(pixels[x + across, y + $0].prefix(3)) } })
    }

    @Test func `A color covers the face and leaves the rest`() throws {
        let image = try produce(Portrait.file(), hidden(.cover(Color(red: 1, green: 200, blue: 3, alpha: 255))))
        #expect(image.faces == 1)
        let pixels = try Pixels(image.body)
        #expect(colors(pixels) == [[1, 200, 3]])
        let source = try Pixels(Portrait.file())
        #expect(pixels.size == source.size && pixels[5, 215] == source[5, 215])
    }

    @Test func `Blocks leave few colors, and a blur no more detail than they have`() throws {
        let source = colors(try Pixels(Portrait.file()))
        let blocks = colors(try Pixels(produce(Portrait.file(), hidden(.pixelate)).body))
        #expect(source.count > 1000 && blocks.count <= 36)
        let blurred = try Pixels(produce(Portrait.file(), hidden(.blur)).body)
        let (x, y) = Portrait.center
        for offset in -29...30 {
            #expect(blurred.distance(x: x + offset, y: y, to: blurred[x + offset - 1, y]) <= 12)
            #expect(blurred.distance(x: x, y: y + offset, to: blurred[x, y + offset - 1]) <= 12)
        }
    }

    @Test(arguments: Dialect.allCases)
    func `It comes before every step that shows pixels, by all rules`(rules: Dialect) throws {
        let recipe = hidden(.blur) {
            ($0.rules, $0.trim, $0.crop, $0.text) = (
                rules, Trim(threshold: 9), Crop(x: 0, y: 0, width: 9, height: 9), Text("a")
            )
        }
        let steps = TransformChain(recipe).transforms
        let place = try #require(steps.firstIndex { $0 is Redaction })
        #expect(steps[..<place].allSatisfy { $0 is Orient || $0 is StillsOnly || $0 is Trim || $0 is ColorConversion })
    }

    @Test func `A reduced image and a placeholder show no face either`() throws {
        let cover = Redaction.Style.cover(Color(red: 0, green: 255, blue: 0, alpha: 255))
        let small = try Pixels(produce(Portrait.file(), hidden(cover) { $0.box = Box(width: 65, height: nil) }).body)
        #expect(small.distance(x: 32, y: 29, to: [0, 255, 0]) <= 3)
        let color = try produce(Portrait.file(), hidden(cover), output: OutputOptions(format: .json, details: .color))
        #expect(String(buffer: color.body).contains("\"dominant_color\":\"#00ff00\""))
    }

    @Test func `Every frame of an animation is covered where the first one has a face`() throws {
        let image = try Portrait.image()
        let animation = try Drawing.animation([image, try image.applying("invert")])
        let output = OutputOptions(format: .webp, lossless: true)
        let recipe = hidden(.cover(Color(red: 1, green: 2, blue: 3, alpha: 255)))
        let body = try produce(animation, recipe, output: output).body
        for frame in 0...1 { #expect(try colors(Pixels(body, frame: frame)) == [[1, 2, 3]]) }
    }

    @Test func `An image without a face stays as it is, but is not passed on`() throws {
        let source = try Fixture.image("geometry/attention.png")
        let image = try produce(source, hidden(.blur))
        #expect(image.faces == 0)
        #expect(try Pixels(image.body).samples == Pixels(produce(source).body).samples)
        let passed = OutputOptions(format: .jpeg, quality: 95, passthrough: .auto)
        let photograph = try SourcePassthroughTests.strongJPEG()
        #expect(try produce(photograph, output: passed).quality == .ofSource())
        #expect(try produce(photograph, hidden(.blur), output: passed).quality != .ofSource())
    }

    @Test func `A crop by content and a crop to the hidden face go along with it`() throws {
        let cover = Redaction.Style.cover(Color(red: 0, green: 255, blue: 0, alpha: 255))
        for position in [Position.attention, .faces(FaceFocus(.largest)), .faces(FaceFocus(.all, zoom: 1))] {
            let recipe = hidden(cover) {
                ($0.box, $0.fit, $0.enlarge, $0.position) = (Box(width: 90, height: 180), .cover, true, position)
            }
            let image = try produce(Portrait.file(), recipe)
            let pixels = try Pixels(image.body)
            #expect(image.faces == 1 && pixels.size == PixelSize(width: 90, height: 180))
            guard position != .attention else { continue }
            #expect(pixels.distance(x: 45, y: 90, to: [0, 255, 0]) <= 3)
        }
    }

    @Test func `A gain map, which shows the face, is dropped`() throws {
        #expect(TransformChain(Recipe()).forGainMap != nil)
        #expect(TransformChain(hidden(.blur)).forGainMap == nil)
    }
}

/// Without the detector, an image is refused instead of shown.
@Suite(.enabled(if: !FaceDetector.isBuiltIn))
struct MissingDetectorTests {
    @Test func `Hiding faces is refused, and a crop falls back to attention`() throws {
        let error = #expect(throws: ImageProcessingError.self) {
            try produce(Portrait.file(), .with { $0.redaction = Redaction() })
        }
        guard case .badParameter(let reason) = error else { throw try #require(error) }
        #expect(reason.parameter == "redact")
        var recipe = Recipe.box(60, 60, fit: .cover)
        recipe.position = .faces(FaceFocus(.largest))
        let image = try produce(Portrait.file(), recipe)
        recipe.position = .attention
        #expect(try image.body == produce(Portrait.file(), recipe).body)
    }
}
