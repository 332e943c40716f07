import DarkroomRequests
import Testing

@testable import DarkroomQuery

extension FuzzTests {
    @Test func `An IIIF path has one canonical path, which means the same within the limits`() {
        let limits = PixelLimits(maxOutputSide: 2000, maxOutputPixels: 1_000_000)
        let sizes = [(1, 1), (300, 200), (7, 9001), (100_000, 50_000)].map { PixelSize(width: $0, height: $1) }
        let seeds = [
            "full/max/0/default.jpg", "square/^max/!90/gray.png", "1,2,30,40/pct:50/22.5/bitonal.webp",
            "pct:1.5,2,30,40/^!60,80/360/color.tif", "0,0,9,9/,9/!0/default.avif", "full/^9,/.5/default.gif",
        ]
        let words = ["full", "square", "pct:", "max", "^", "!", ",", ".", "/", "999999999", "%2C", "default"]
        fuzzer.run("iiif-path", seeds: seeds, words: words) { input in
            for full in sizes {
                guard let image = try? Self.image(String(decoding: input, as: UTF8.self), full, limits) else {
                    continue
                }
                guard let again = try? Self.image(image.canonicalPath, full, limits) else {
                    throw Unheld(reason: "can't read '\(image.canonicalPath)'")
                }
                try hold(again == image, "'\(image.canonicalPath)' is another image")
                guard let size = image.query.recipe.box.size else { continue }
                try hold(
                    max(size.width, size.height) <= 2000 && size.area <= 1_000_000 && min(size.width, size.height) > 0,
                    "\(size)")
            }
        }
    }

    private static func image(
        _ path: String, _ full: PixelSize, _ limits: PixelLimits
    ) throws(InvalidParameter) -> IIIFImage? {
        var texts: [String] = []
        for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
            texts.append(try IIIFPath.text(of: String(segment), named: "segment"))
        }
        guard texts.count == 4 else { return nil }
        return try IIIFImagePath(region: texts[0], size: texts[1], rotation: texts[2], file: texts[3])
            .image(of: "a:b", full: full, limits: limits)
    }
}
