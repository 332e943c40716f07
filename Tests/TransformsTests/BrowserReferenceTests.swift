import DarkroomRequests
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// How Chromium shows the fixtures (`make browser STORE=Fixtures`). Measure and bounds are in docs/browsers.md.
struct BrowserReferenceTests {
    @Test(arguments: Reference.all)
    func `A fixture looks as in a browser, but for the differences that the documents state`(
        _ reference: Reference
    ) throws {
        let picture = try Pixels(reference.picture())
        let (size, pixels) = try reference.result()
        #expect(reference.has(size: size), "\(size), not \(reference.size)")
        let distances = pixels.distances(to: picture, in: picture.size)
        for (name, channels) in [("color", 0..<3), ("alpha", 3..<4)] {
            let worst = distances.map { $0[channels].max() ?? 0 }
            let mean = worst.reduce(0, +) / Double(worst.count)
            #expect(mean <= 3 && worst.allSatisfy { $0 <= 24 }, "\(name): mean \(mean), worst \(worst.max() ?? 0)")
        }
    }

    @Test func `A difference is found in size, color and alpha`() throws {
        let shown = try #require(Reference.all.first { $0.path == "formats/alpha.png" })
        #expect(!shown.has(size: PixelSize(width: shown.size.height, height: shown.size.width)))
        let pixels = try shown.result().pixels
        let opaque = try Pixels(produce(Fixture.image(shown.path), .with { $0.background = .white }).body)
        let distances = pixels.distances(to: opaque, in: PixelSize(width: 16, height: 12))
        #expect(distances.contains { $0[0] > 24 } && distances.contains { $0[3] > 24 })
        #expect(pixels.distances(to: pixels, in: pixels.size).allSatisfy { $0 == [0, 0, 0, 0] })
    }

    /// A row of `Fixtures/chromium.tsv`.
    struct Reference: CustomTestStringConvertible {
        let path: String
        /// As Chromium reports it.
        let size: PixelSize

        var testDescription: String { path }
        private var isDrawing: Bool { path.hasSuffix(".svg") }

        /// Without fixtures that Chromium does not show, or whose difference has a reason.
        static let all: [Reference] = {
            let table = (try? Fixture.table(Fixture.root.appendingPathComponent("chromium.tsv"))) ?? []
            return table.filter { $0["shown"] == "yes" && $0["exception"] == "" }.map { cells in
                let sides = ["width", "height"].map { cells[$0].flatMap(Int.init) ?? 0 }
                return Reference(path: cells["file"] ?? "", size: PixelSize(width: sides[0], height: sides[1]))
            }
        }()

        func picture() throws -> ByteBuffer {
            try Fixture.bytes(Fixture.root.appendingPathComponent("as-chromium/\(path).png"))
        }

        /// The size of the result, and its pixels. A drawing is in Chromium's size, or 320 pixels wide or high.
        func result() throws -> (size: PixelSize, pixels: Pixels) {
            let result = try produce(Fixture.image(path))
            guard isDrawing else { return (result.size, try Pixels(result.body)) }
            let width = size.width * min(320, max(size.width, size.height)) / max(size.width, size.height)
            return (result.size, try Pixels(produce(Fixture.image(path), .box(width, enlarge: true)).body))
        }

        /// Whether a result has this size, or for a drawing this ratio, but for rounding.
        func has(size other: PixelSize) -> Bool {
            let sides = size.width + size.height + other.width + other.height
            return other == size
                || isDrawing && abs(size.width * other.height - other.width * size.height) <= sides / 2
        }
    }
}

extension Pixels {
    /// The differences of premultiplied red, green and blue, and of alpha, in as many blocks as the box has pixels.
    fileprivate func distances(to other: Pixels, in box: PixelSize) -> [[Double]] {
        let distances = zip(means(in: box), other.means(in: box)).map { abs($0 - $1) }
        return stride(from: 0, to: distances.count, by: 4).map { Array(distances[$0..<($0 + 4)]) }
    }

    /// The means of the blocks, four numbers for each.
    private func means(in box: PixelSize) -> [Double] {
        let columns = Self.shares(of: width, in: box.width)
        var sums = [Double](repeating: 0, count: 4 * box.width * box.height)
        for (y, shares) in Self.shares(of: height, in: box.height).enumerated() {
            var line = [Double](repeating: 0, count: 4 * box.width)
            for x in 0..<width {
                let start = (y * width + x) * bands
                let alpha = bands == 4 ? Double(samples[start + 3]) : 255
                for (column, share) in columns[x] {
                    for channel in 0..<3 {
                        line[4 * column + channel] += Double(samples[start + channel]) * alpha / 255 * share
                    }
                    line[4 * column + 3] += alpha * share
                }
            }
            for (row, share) in shares {
                for at in line.indices { sums[row * line.count + at] += line[at] * share }
            }
        }
        return sums
    }

    /// For each pixel of a line, the blocks that it is part of, and its share in their means.
    private static func shares(of length: Int, in count: Int) -> [[(block: Int, share: Double)]] {
        let side = Double(length) / Double(count)
        return (0..<length).map { pixel in
            let (first, last) = (pixel * count / length, min(count - 1, (pixel + 1) * count / length))
            return (first...last).map { block in
                let (start, end) = (Double(block) * side, Double(block + 1) * side)
                return (block, max(0, min(Double(pixel + 1), end) - max(Double(pixel), start)) / side)
            }
        }
    }
}
