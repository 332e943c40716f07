import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Pages of text are the lossy sources that are not averaged in linear light.
struct TextPageTests {
    @Test(arguments: [150, 100, 60])
    func `A JPEG of text is averaged as browsers do, so that its letters keep their weight`(_ width: Int) throws {
        let page = try Self.page { _, _, ink in ink ? 10 : 250 }.jpeg(quality: 90)
        func mean(_ resampling: Resampling) throws -> Double {
            let samples = try Pixels(produce(page, .box(width, as: resampling)).body).samples
            return Double(samples.reduce(0) { $0 + Int($1) }) / Double(samples.count)
        }
        let (found, encoded, light) = try (mean(.fast), mean(.accurate), mean(.linear))
        #expect(abs(found - encoded) < 1 && light > encoded + 2, "\(found), \(encoded), \(light)")
    }

    @Test func `Scans of dark letters on bright paper are found`() throws {
        let pages: [(name: String, sample: (Int, Int, Bool) -> Int)] = [
            ("white", { _, _, ink in ink ? 10 : 255 }), ("gray letters", { _, _, ink in ink ? 90 : 245 }),
            ("gray paper", { _, _, ink in ink ? 30 : 205 }),
            ("noise", { x, y, ink in (ink ? 40 : 235) + (x * 7 + y * 13) % 9 }),
            ("a shadow", { x, _, ink in (ink ? 40 : 240) - x / 20 }),
            ("a picture", { x, y, ink in x > 200 && y > 300 ? Self.detail(x, y) : ink ? 10 : 250 }),
        ]
        for (name, sample) in pages {
            let page = try Self.page(sample)
            #expect(try TextPage.isFound(in: page) && TextPage.isFound(in: page.band(1)), "\(name)")
        }
    }

    @Test func `Photographs, light letters on black, objects on white and empty pages are no text`() throws {
        let others: [(name: String, sample: (Int, Int, Bool) -> Int)] = [
            ("a photograph", { x, y, _ in Self.detail(x, y) }), ("light on black", { _, _, ink in ink ? 250 : 10 }),
            ("text on a photograph", { x, y, ink in ink ? 250 : Self.detail(x, y) / 2 }),
            ("half a photograph", { x, y, ink in y > 200 ? Self.detail(x, y) : ink ? 10 : 250 }),
            ("an object", { x, y, _ in abs(x - 150) + abs(y - 200) < 125 ? Self.detail(x, y) : 255 }),
            ("a silhouette", { x, y, _ in abs(x - 150) + abs(y - 200) < 125 ? 12 : 255 }),
            ("an empty page", { _, _, _ in 250 }), ("a dark page", { _, _, ink in ink ? 10 : 150 }),
        ]
        for (name, sample) in others { #expect(try !TextPage.isFound(in: Self.page(sample)), "\(name)") }
        let page = try Self.page { _, _, ink in ink ? 10 : 250 }
        #expect(try !TextPage.isFound(in: page.addingAlpha()))
        #expect(try !TextPage.isFound(in: page.extracting(x: 60, y: 60, size: PixelSize(width: 12, height: 200))))
    }

    /// An image of 300 by 400 pixels. `sample` gets a place, and whether a letter has ink there.
    private static func page(_ sample: (Int, Int, Bool) -> Int) throws -> VipsImage {
        try Drawing.image(300, 400) { x, y in
            let sample = UInt8(min(max(sample(x, y, hasInk(x, y)), 0), 255))
            return [sample, sample, sample]
        }
    }

    /// Bars of two pixels in letters of 7 by 12 pixels.
    private static func hasInk(_ x: Int, _ y: Int) -> Bool {
        guard (30..<270).contains(x), (30..<370).contains(y) else { return false }
        let (line, row) = (y - 30).quotientAndRemainder(dividingBy: 20)
        let (letter, column) = (x - 30).quotientAndRemainder(dividingBy: 9)
        let bits = (UInt32(line * 977 + letter * 131) &* 2_654_435_761) >> 8
        guard row < 12, column < 7, bits % 6 > 0 else { return false }
        let bars = [column < 2, column > 4, row < 2, row > 9, row == 5 || row == 6]
        return bars.enumerated().contains { index, isInBar in isInBar && bits >> (4 + index) & 1 == 1 }
    }

    /// Soft and hard edges of many directions.
    private static func detail(_ x: Int, _ y: Int) -> Int { (x * x / 37 + y * y / 21 + x * y / 50) % 256 }
}
