import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

struct AILabelTests {
    private static let vocabulary = "http://cv.iptc.org/newscodes/digitalsourcetype/"

    /// An animation of two blue frames with this digital source type. The encoder joins frames that are equal.
    private func source(_ type: String?, width: Int = 240, height: Int = 120) throws -> ByteBuffer {
        var blobs: [String: ByteBuffer] = [:]
        blobs["xmp-data"] = type.map { XMPPacket.make([.digitalSourceType: $0]) }
        let frames = try [0, 1].map { try Drawing.flat(width, height, [30, 60, 200 + $0]) }
        return try VipsSaver.webp.encode(
            VipsImage.stacked(frames).setting(ints: ["page-height": height], blobs: blobs), ["lossless": true])
    }

    private func labeled(_ source: ByteBuffer, _ place: AILabel.Place, _ recipe: Recipe = Recipe()) throws -> [Pixels] {
        var recipe = recipe
        recipe.aiLabel = place
        let output = OutputOptions(format: .webp, lossless: true)
        let result = try produce(source, recipe, output: output)
        return try (0..<result.frames).map { try Pixels(result.body, frame: $0) }
    }

    private let blue = Drawing.blue.map(Int.init)

    @Test(arguments: [
        (AILabel.Place.topLeft, 6, 6), (.topRight, 210, 6), (.bottomLeft, 6, 102), (.bottomRight, 210, 102),
    ])
    func `An image of a model has a label in the corner, in each frame`(place: AILabel.Place, x: Int, y: Int) throws {
        let frames = try labeled(source("\(Self.vocabulary)trainedAlgorithmicMedia"), place)
        #expect(frames.count == 2)
        for frame in frames {
            for row in 0..<frame.height {
                for column in 0..<frame.width where frame.distance(x: column, y: row, to: blue) > 1 {
                    #expect((x..<x + 24).contains(column) && (y..<y + 12).contains(row), "\(column),\(row)")
                }
            }
            // The plate, and the last letter's line.
            #expect(frame.luminance(x: x + 2, y: y + 6) < frame.luminance(x: 120, y: 60))
            #expect(frame.luminance(x: x + 16, y: y + 6) > frame.luminance(x: 120, y: 60))
        }
    }

    @Test(arguments: [
        ("compositeWithTrainedAlgorithmicMedia", true), ("compositeSynthetic", true), ("algorithmicMedia", true),
        ("digitalCapture", false), ("algorithmicallyEnhanced", false), ("", false), ("trainedAlgorithmicMedia/", true),
    ])
    func `The digital source type decides`(term: String, isLabeled: Bool) throws {
        let frames = try labeled(source(Self.vocabulary + term), .topLeft)
        #expect(!frames[0].isFlat(blue) == isLabeled)
        #expect(try labeled(source(Self.vocabulary + term), .none)[0].isFlat(blue))
    }

    @Test func `Images of unknown origin, and images without space, have no label`() throws {
        #expect(try labeled(source(nil), .topLeft)[0].isFlat(blue))
        let tiny = try source("\(Self.vocabulary)trainedAlgorithmicMedia", width: 35, height: 200)
        #expect(try labeled(tiny, .topLeft)[0].isFlat(blue))
    }

    @Test func `The label is drawn on the result, by the rules of every service`() throws {
        for rules in Dialect.allCases {
            var recipe = Recipe.box(120)
            recipe.rules = rules
            let frames = try labeled(source("\(Self.vocabulary)trainedAlgorithmicMedia"), .topLeft, recipe)
            #expect(frames[0].width == 120 && frames[0].distance(x: 8, y: 12, to: blue) > 0)
            let keys = [AILabel.Place.none, .topLeft, .topRight].map { place in
                recipe.aiLabel = place
                return TransformChain(recipe).key
            }
            #expect(Set(keys).count == 3)
        }
    }
}
