import DarkroomRequests
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Every line of `Fixtures/images.tsv`.
struct FixtureTableTests {
    @Test(arguments: Row.all.filter { $0.outcome == "decode" })
    func `A good fixture is upright, complete and in its true colors`(_ row: Row) throws {
        let header = try SourceHeader(of: row.bytes())
        #expect(header.format.rawValue == row.format)
        #expect(header.frames == row.frames)
        let frames = row.samples.map(\.frame).max().map { $0 + 1 } ?? 1
        for frame in 0..<frames {
            let result = try produce(
                row.bytes(), pages: PageSelection(first: frame == 0 ? PageSelection.primary : frame + 1, count: 1))
            #expect(result.size == row.upright)
            let pixels = try Pixels(result.body)
            for sample in row.samples where sample.frame == frame {
                let found = pixels[sample.x, sample.y]
                #expect(
                    sample.matches(found, tolerance: row.tolerance),
                    "\(row.path) at \(sample.x),\(sample.y)@\(frame): \(found), not \(sample.color)")
            }
        }
    }

    @Test(arguments: Row.all.filter { $0.outcome != "decode" })
    func `A bad fixture is refused for its true reason, however little of it is requested`(_ row: Row) throws {
        let recipes = [Recipe(), .box(16), .with { $0.crop = Crop(x: 0, y: 0, width: 1, height: 1) }]
        for recipe in recipes {
            let error = #expect(throws: ImageProcessingError.self) {
                try produce(row.bytes(), recipe, output: OutputOptions(format: .webp))
            }
            let outcome =
                switch error {
                case .unsupported: "unsupported"
                case .corrupt: "corrupt"
                case .tooLarge: "too-large"
                default: "\(String(describing: error))"
                }
            #expect(outcome == row.outcome, "\(row.path): \(String(describing: error))")
        }
    }

    struct Row: CustomTestStringConvertible {
        let path: String
        let format: String
        let upright: PixelSize?
        let frames: Int
        let outcome: String
        let tolerance: Int
        let samples: [Sample]

        var testDescription: String { path }

        func bytes() throws -> ByteBuffer { try Fixture.image(path) }

        static let all: [Row] = {
            let table = (try? Fixture.table(Fixture.root.appendingPathComponent("images.tsv"))) ?? []
            return table.map { cells in
                let sides = (cells["upright"] ?? "").split(separator: "x").compactMap { Int($0) }
                let path = cells["path"] ?? ""
                return Row(
                    path: path, format: cells["format"] ?? "",
                    upright: sides.count == 2 ? PixelSize(width: sides[0], height: sides[1]) : nil,
                    frames: cells["frames"].flatMap(Int.init) ?? 1,
                    outcome: Fixture.expectedOfThisLibvips[path] ?? cells["outcome"] ?? "",
                    tolerance: cells["tolerance"].flatMap(Int.init) ?? 0,
                    samples: (cells["samples"] ?? "").split(separator: " ").compactMap { Sample($0) })
            }
        }()
    }

    /// `x,y=#rrggbb` or `x,y@frame=#rrggbbaa`.
    struct Sample {
        let x: Int
        let y: Int
        let frame: Int
        let color: [Int]

        init?(_ text: Substring) {
            let sides = text.split(separator: "=#")
            guard sides.count == 2, let color = Color(parsing: String(sides[1])) else { return nil }
            let place = sides[0].split { $0 == "," || $0 == "@" }.compactMap { Int($0) }
            guard place.count >= 2 else { return nil }
            (x, y, frame) = (place[0], place[1], place.count > 2 ? place[2] : 0)
            let channels = [color.red, color.green, color.blue] + (sides[1].count == 8 ? [color.alpha] : [])
            self.color = channels.map(Int.init)
        }

        /// For transparent pixels, only alpha counts.
        func matches(_ found: [Int], tolerance: Int) -> Bool {
            let found = found.count == 3 ? found + [255] : found
            if color.count == 4, abs(found[3] - color[3]) > tolerance { return false }
            if color.count == 4, color[3] == 0 { return true }
            return zip(found.prefix(3), color).allSatisfy { abs($0 - $1) <= tolerance }
        }
    }
}
