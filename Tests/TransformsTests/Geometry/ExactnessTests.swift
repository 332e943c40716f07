import DarkroomRequests
import DarkroomVips
import Foundation
import Testing

@testable import DarkroomTransforms

/// Details of a JPEG keep their exact place after shrink-on-load.
struct ExactnessTests {
    static let stored = PixelSize(width: 1003, height: 669)
    /// Soft spots near the corners, centers in pixels from the upper left corner of the stored image.
    static let spots: [(x: Double, y: Double)] = [(90, 80), (914, 76), (84, 590), (922, 598)]

    @Test(arguments: Resampling.allCases, [60, 120, 125, 230, 250, 450, 500, 501])
    func `Spots are within 0.15 pixels of their place in every resampling, shrink and orientation`(
        _ resampling: Resampling, side: Int
    ) throws {
        for orientation in 1...8 {
            let source = try Self.drawing.setting(ints: ["orientation": orientation]).jpeg()
            let result = try Pixels(produce(source, .box(side, side, as: resampling)).body)
            let upright = orientation < 5 ? Self.stored : Self.stored.transposed
            let scale = (
                x: Double(result.width) / Double(upright.width), y: Double(result.height) / Double(upright.height)
            )
            for spot in Self.spots {
                let place = Self.upright(spot, orientation)
                let expected = (x: place.x * scale.x, y: place.y * scale.y)
                let found = Self.darkCentre(of: result, near: expected, radius: 50 * scale.x)
                #expect(
                    abs(found.x - expected.x) < 0.15 && abs(found.y - expected.y) < 0.15,
                    "orientation \(orientation): \(found), not \(expected)")
            }
        }
    }

    @Test func `The sides tested above make the decoder shrink by 8, 4 and 2`() {
        func factor(_ side: Int, _ resampling: Resampling) -> Int {
            let target = ResizeGeometry(
                source: Self.stored, box: Box(width: side, height: side), fit: .inside, enlarge: false
            ).scaled
            return JPEGShrink.factor(source: Self.stored, covering: target, headroom: resampling.headroom)
        }
        #expect([60, 120, 230, 450].map { factor($0, .fast) } == [8, 4, 2, 1])
        #expect([60, 120, 230, 450].map { factor($0, .accurate) } == [8, 4, 2, 1])
    }

    @Test(arguments: Resampling.allCases)
    func `Spots keep their place in a PNG, shrunk and enlarged`(_ resampling: Resampling) throws {
        let source = try Self.drawing.png()
        for side in [77, 333, 1300] {
            let result = try Pixels(produce(source, .box(side, side, enlarge: true, as: resampling)).body)
            let scale = (x: Double(result.width) / 1003, y: Double(result.height) / 669)
            for spot in Self.spots {
                let expected = (x: spot.x * scale.x, y: spot.y * scale.y)
                let found = Self.darkCentre(of: result, near: expected, radius: 50 * scale.x)
                #expect(abs(found.x - expected.x) < 0.15 && abs(found.y - expected.y) < 0.15, "\(side): \(found)")
            }
        }
    }

    /// Where a stored point is seen (EXIF 2.32, tag 274).
    static func upright(_ point: (x: Double, y: Double), _ orientation: Int) -> (x: Double, y: Double) {
        let (x, y) = point
        let (farX, farY) = (Double(stored.width) - x, Double(stored.height) - y)
        return switch orientation {
        case 2: (farX, y)
        case 3: (farX, farY)
        case 4: (x, farY)
        case 5: (y, x)
        case 6: (farY, x)
        case 7: (farY, farX)
        case 8: (y, farX)
        default: (x, y)
        }
    }

    private static let drawing: VipsImage = {
        // Without the test's own image, nothing here is meaningful.
        // swift-format-ignore
        try! Drawing.image(stored.width, stored.height) { x, y in
            let darkness = spots.reduce(0.0) { sum, spot in
                let (dx, dy) = (Double(x) + 0.5 - spot.x, Double(y) + 0.5 - spot.y)
                return sum + exp(-(dx * dx + dy * dy) / (2 * 12 * 12))
            }
            return [UInt8(230 - min(darkness, 1) * 220)]
        }
    }()

    /// The center of the dark pixels, from the upper left corner.
    private static func darkCentre(
        of pixels: Pixels, near place: (x: Double, y: Double), radius: Double
    ) -> (x: Double, y: Double) {
        var (sum, sumX, sumY) = (0.0, 0.0, 0.0)
        for y in max(0, Int(place.y - radius))..<min(pixels.height, Int(place.y + radius) + 1) {
            for x in max(0, Int(place.x - radius))..<min(pixels.width, Int(place.x + radius) + 1) {
                let darkness = max(0, 222 - pixels.luminance(x: x, y: y))
                sum += darkness
                sumX += darkness * (Double(x) + 0.5)
                sumY += darkness * (Double(y) + 0.5)
            }
        }
        return (sumX / sum, sumY / sum)
    }
}
