import DarkroomRequests
import Testing

@testable import DarkroomQuery

/// The sizes and tiles in `info.json`.
struct IIIFPyramidTests {
    private func pyramid(_ width: Int, _ height: Int, _ limits: PixelLimits = PixelLimits()) -> IIIFPyramid {
        IIIFPyramid(full: PixelSize(width: width, height: height), limits: limits)
    }

    @Test func `Sizes are halvings of the image in ascending order`() {
        #expect(
            pyramid(6000, 4000).sizes.map { [$0.width, $0.height] }
                == [[94, 63], [188, 125], [375, 250], [750, 500], [1500, 1000], [3000, 2000], [6000, 4000]])
        #expect(pyramid(1, 1).sizes == [PixelSize(width: 1, height: 1)])
        #expect(pyramid(1000, 1).sizes.allSatisfy { $0.height == 1 })
    }

    @Test func `No size exceeds the limits`() {
        #expect(pyramid(6000, 4000, PixelLimits(maxOutputSide: 1000)).sizes.last == PixelSize(width: 750, height: 500))
        #expect(pyramid(300, 200, PixelLimits(maxOutputPixels: 50)).sizes.isEmpty)
    }

    @Test(arguments: [
        (6000, 4000, [1, 2, 4, 8, 16]), (1024, 1, [1, 2]), (1025, 9, [1, 2, 4]), (512, 512, [1]), (3, 3, [1]),
        (100_000, 50_000, [1, 2, 4, 8, 16, 32, 64, 128, 256]),
    ])
    func `The last level of tiles is a single one`(width: Int, height: Int, factors: [Int]) {
        #expect(pyramid(width, height).scaleFactors == factors)
        #expect(pyramid(width, height).tileSide == 512)
    }

    @Test func `Tiles are within the limits`() {
        #expect(pyramid(900, 900, PixelLimits(maxOutputSide: 200)).tileSide == 200)
        #expect(pyramid(900, 900, PixelLimits(maxOutputPixels: 10_001)).tileSide == 100)
        #expect(pyramid(900, 900, PixelLimits(maxOutputPixels: 10_001)).scaleFactors == [1, 2, 4, 8, 16])
        #expect(pyramid(2, 2, PixelLimits(maxOutputPixels: 1)).tileSide == 1)
    }

    /// As in the implementation notes of the specification.
    @Test(arguments: [PixelSize(width: 6001, height: 3999), PixelSize(width: 513, height: 1025)])
    func `Every tile is an image that the server makes`(full: PixelSize) throws {
        let limits = PixelLimits()
        let pyramid = IIIFPyramid(full: full, limits: limits)
        for factor in pyramid.scaleFactors {
            let step = pyramid.tileSide * factor
            for x in stride(from: 0, to: full.width, by: step) {
                for y in stride(from: 0, to: full.height, by: step) {
                    let (width, height) = (min(step, full.width - x), min(step, full.height - y))
                    let size = "\((width + factor - 1) / factor),\((height + factor - 1) / factor)"
                    let path = try IIIFImagePath(
                        region: "\(x),\(y),\(step),\(step)", size: size, rotation: "0", file: "default.jpg")
                    #expect(throws: Never.self) {
                        try path.image(of: "a", full: full, limits: limits)
                    }
                }
            }
        }
    }
}

struct IIIFMediaTypeTests {
    @Test(arguments: [
        nil, "", "application/ld+json", #"application/ld+json;profile="http://iiif.io/api/image/3/context.json""#,
        "*/*", "application/*", "text/html,*/*;q=0.8", "application/json,application/ld+json", "image/png",
        "application/json;q=0.5,*/*;q=0.6", "APPLICATION/LD+JSON", "application/json;q=0",
    ])
    func `The document is JSON-LD unless the client prefers JSON`(accept: String?) {
        #expect(IIIFMediaType(accept: accept) == .linkedData)
    }

    @Test(arguments: [
        "application/json", "application/json;charset=utf-8", "application/json, */*;q=0.1",
        "application/ld+json;q=0.5, application/json", "application/ld+json;q=0, */*",
    ])
    func `JSON is plain where the client prefers it`(accept: String) {
        #expect(IIIFMediaType(accept: accept) == .json)
    }
}
