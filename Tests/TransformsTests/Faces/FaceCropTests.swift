import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Crops to faces and the members about them, with the detector.
@Suite(.enabled(if: FaceDetector.isBuiltIn))
struct FaceCropTests {
    private func recipe(_ focus: FaceFocus, _ width: Int = 200, _ height: Int = 200) -> Recipe {
        var recipe = Recipe.box(width, height, fit: .cover, enlarge: true)
        recipe.position = .faces(focus)
        return recipe
    }

    @Test(arguments: [false, true])
    func `A crop keeps the face, wherever it is`(atRight: Bool) throws {
        let image = try produce(Portrait.onCanvas(atRight: atRight), recipe(FaceFocus(.largest)))
        #expect(image.faces == 1)
        // Of the canvas of 460 by 220 pixels, 220 are kept around the middle of the face.
        let pixels = try Pixels(image.body)
        let kept = try Pixels(Portrait.onCanvas(atRight: atRight))
        let start = Portrait.center.x - 110 + (atRight ? 200 : 0)
        for (x, y) in [(100, 100), (60, 150), (140, 60)] {
            let source = (start + x * 220 / 200, y * 220 / 200)
            #expect(pixels.distance(x: x, y: y, to: kept[source.0, source.1]) < 60, "\(x),\(y)")
        }
    }

    @Test(arguments: Dialect.allCases.filter { $0 != .imgproxy })
    func `A crop by the rules of another service keeps it too`(rules: Dialect) throws {
        var recipe = recipe(FaceFocus(.all))
        recipe.rules = rules
        let image = try produce(Portrait.onCanvas(atRight: true), recipe)
        #expect(image.faces == 1)
        // The plain canvas is at the left.
        #expect(try Pixels(image.body).distance(x: 100, y: 5, to: [90, 90, 90]) > 10)
    }

    @Test func `A gravity of imgproxy keeps it too`() throws {
        var recipe = Recipe.with { $0.rules = .imgproxy }
        recipe.box = Box(width: 110, height: 110)
        var layout = Layout()
        (layout.sizing, layout.gravity) = (.fill, Layout.Gravity(.faces(.all)))
        recipe.layout = layout
        let image = try produce(Portrait.onCanvas(atRight: true), recipe)
        #expect(image.faces == 1)
        #expect(try Pixels(image.body).distance(x: 55, y: 3, to: [90, 90, 90]) > 10)
    }

    @Test func `Without a face, attention decides, and the number says so`() throws {
        let source = try Fixture.image("geometry/attention.png")
        let image = try produce(source, recipe(FaceFocus(.largest), 60, 150))
        var attention = recipe(FaceFocus(.largest), 60, 150)
        attention.position = .attention
        let other = try produce(source, attention)
        #expect(image.faces == 0 && other.faces == nil)
        #expect(image.body == other.body)
    }

    @Test func `A zoom shows the head alone, in the same size`() throws {
        let image = try produce(Portrait.file(), recipe(FaceFocus(.largest, zoom: 1), 120, 120))
        #expect(image.size == PixelSize(width: 120, height: 120) && image.faces == 1)
        // The head is 165 pixels high.
        let pixels = try Pixels(image.body)
        let source = try Pixels(Portrait.file())
        #expect(pixels.distance(x: 60, y: 70, to: source[127, 127]) < 50)
    }

    @Test func `A turned photograph has its face in the upright image`() throws {
        let turned = try Portrait.image().applying("rot", ["angle": "d270"]).setting(ints: ["orientation": 6])
            .jpeg()
        for source in [try Portrait.file(), turned] {
            let document = try produce(source, output: OutputOptions(format: .json, details: .faces))
            let members = try JSONSerialization.jsonObject(with: Data(document.body.readableBytesView))
            let faces = try #require((members as? [String: Any])?["faces"] as? [[String: Double]])
            let face = try #require(faces.first)
            #expect(faces.count == 1 && document.faces == 1)
            #expect(abs((face["x"] ?? 0) + (face["width"] ?? 0) / 2 - Double(Portrait.center.x)) < 8)
            #expect(abs((face["y"] ?? 0) + (face["height"] ?? 0) / 2 - Double(Portrait.center.y)) < 8)
            #expect((60...110).contains(face["width"] ?? 0) && (face["confidence"] ?? 0) > 0.5)
        }
    }

    @Test func `A document without the field has no faces`() throws {
        let document = try produce(Portrait.file(), output: OutputOptions(format: .json, details: .all))
        #expect(!String(buffer: document.body).contains("faces") && document.faces == nil)
    }

    @Test func `The search is in the estimate, whatever the content`() throws {
        func work(_ recipe: Recipe, of source: ByteBuffer) throws -> Double {
            try PreparedJob(ImageJob(source: source, chain: TransformChain(recipe))).plan().expectedWork
        }
        let noise = try Drawing.image(500, 400) { x, y in
            [UInt8(truncatingIfNeeded: (x &* 7919 &+ y &* 104_729) &* 2_654_435_761 >> 13)]
        }.png()
        var attention = recipe(FaceFocus(.largest))
        attention.position = .attention
        let search = try work(recipe(FaceFocus(.largest)), of: noise) - work(attention, of: noise)
        // A copy of 960 by 768 pixels, and one of half its sides.
        #expect(search > 0.9 * 1.25 * 960 * 768 * FaceDetector.nanosecondsPerPixel / 1e6)
    }

    @Test func `A search in the middle of a chain is in the estimate too, each time`() throws {
        let crop = CoverCrop(box: PixelSize(width: 90, height: 90), position: .faces(FaceFocus(.largest)))
        let blurred: [any Transform] = [Orient(.auto), ColorConversion(), Blur(sigma: 1)]
        let chains = [blurred, blurred + [crop], blurred + [crop, Blur(sigma: 1), crop]]
        let plans = try chains.map { chain in
            try PreparedJob(ImageJob(source: Portrait.file(), chain: TransformChain(chain))).plan()
        }
        #expect(plans.map { $0.faceSearches.map(\.purpose) } == [[], [.show], [.show, .show]])
        // Twice the sides of the photograph.
        #expect(plans[1].faceSearches[0].size == PixelSize(width: 520, height: 440))
        let search = 1.25 * 520 * 440 * FaceDetector.nanosecondsPerPixel / 1e6
        #expect(plans[1].expectedWork > plans[0].expectedWork + search)
        #expect(plans[1].faceSearches[0].work >= search)
    }

    @Test func `A plan has each search with its purpose`() throws {
        var recipe = recipe(FaceFocus(.largest))
        recipe.redaction = Redaction(.blur)
        let job = ImageJob(source: try Portrait.file(), chain: TransformChain(recipe))
        #expect(try PreparedJob(job).plan().faceSearches.map(\.purpose) == [.hide, .show])
        let document = ImageJob(
            source: try Portrait.file(), chain: TransformChain(Recipe()),
            output: OutputOptions(format: .json, details: .faces))
        #expect(try PreparedJob(document).plan().faceSearches.map(\.purpose) == [.describe])
        let plain = ImageJob(source: try Portrait.file(), chain: TransformChain(Recipe()))
        #expect(try PreparedJob(plain).plan().faceSearches.isEmpty)
    }

    @Test func `Of thousands of faces too small to find, none is found`() throws {
        let tiny = try Portrait.image().resampled(to: PixelSize(width: 4, height: 4))
        let many = try tiny.applying("replicate", ["across": 63, "down": 63]).png()
        #expect(try produce(many, recipe(FaceFocus(.all), 50, 40)).faces == 0)
    }
}
