import DarkroomRequests
import Testing

@testable import DarkroomTransforms

/// Where crops to faces lie, without a detector.
struct FaceFramingTests {
    private static func face(_ left: Double, _ top: Double, _ side: Double) -> Face {
        Face(left: left, top: top, right: left + side, bottom: top + side, confidence: 1)
    }

    private let image = PixelSize(width: 1000, height: 500)

    @Test func `Without a face there is nothing to frame`() {
        #expect(FaceFraming([], .all) == nil)
    }

    @Test func `A head has hair and a chin, within the image`() {
        let head = Self.face(0.4, 0.1, 0.2).head
        #expect(abs(head.left - 0.34) < 1e-9 && abs(head.right - 0.66) < 1e-9)
        #expect(head.top == 0 && abs(head.bottom - 0.36) < 1e-9)
    }

    @Test func `A crop has the head in its middle, unless an edge is nearer`() throws {
        let size = PixelSize(width: 300, height: 500)
        for (left, expected) in [(0.45, 350), (0.0, 0), (0.9, 700)] {
            let framing = try #require(FaceFraming([Self.face(left, 0.3, 0.1)], .largest))
            let (x, y) = framing.corner(of: size, in: image)
            #expect((x, y) == (expected, 0))
        }
    }

    @Test func `One face is the largest, and all are in the middle of their box`() throws {
        let faces = [Self.face(0.1, 0.4, 0.05), Self.face(0.8, 0.4, 0.1)]
        let size = PixelSize(width: 200, height: 200)
        let one = try #require(FaceFraming(faces, .largest)).corner(of: size, in: image)
        #expect(one.x == 750)
        let wide = PixelSize(width: 900, height: 500)
        let all = try #require(FaceFraming(faces, .all)).corner(of: wide, in: image)
        #expect(all.x == Int(((0.085 + 0.93) / 2 * 1000 - 450).rounded()))
    }

    @Test func `Where not all heads fit, the largest one is whole`() throws {
        let faces = [Self.face(0.0, 0.4, 0.05), Self.face(0.8, 0.4, 0.1)]
        let size = PixelSize(width: 200, height: 200)
        let corner = try #require(FaceFraming(faces, .all)).corner(of: size, in: image)
        #expect(corner.x <= 770 && corner.x + 200 >= 930)
    }

    @Test func `Where a head does not fit, the face is in the middle`() throws {
        let framing = try #require(FaceFraming([Self.face(0.4, 0.5, 0.2)], .largest))
        // The face has the rows from 250 to 350, the head the rows from 190 to 380.
        #expect(framing.corner(of: PixelSize(width: 600, height: 120), in: image).y == 240)
        #expect(framing.corner(of: PixelSize(width: 600, height: 190), in: image).y == 190)
    }

    @Test(arguments: [0.0, 0.5, 1])
    func `A zoom shows less around the head, in the same shape`(zoom: Double) throws {
        let framing = try #require(FaceFraming([Self.face(0.4, 0.4, 0.1)], .largest))
        let window = framing.window(1.5, zoom: zoom, of: image)
        let closest = max(0.16 * 1000, 0.19 * 500 * 1.5)
        #expect(window.size.width == Int((750 + (closest - 750) * zoom).rounded()))
        #expect(abs(Double(window.size.width) / Double(window.size.height) - 1.5) < 0.02)
        #expect(window.x <= 370 && window.x + window.size.width >= 530)
        #expect(window.x >= 0 && window.y >= 0 && window.y + window.size.height <= 500)
    }

    @Test func `No zoom shows more than the image`() throws {
        let huge = Face(left: 0, top: 0, right: 1, bottom: 1, confidence: 1)
        let window = try #require(FaceFraming([huge], .all)).window(3, zoom: 1, of: image)
        #expect(window.size == PixelSize(width: 1000, height: 333))
    }
}
