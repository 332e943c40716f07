import DarkroomRequests
import Foundation
import Testing

@testable import DarkroomTransforms

/// Images of other projects' test suites, with what must come of each. Skipped where they are not at hand.
@Suite(.enabled(if: Fixture.corpus != nil))
struct CorpusTests {
    @Test(arguments: Row.sets)
    func `Every foreign image comes out in its upright size or is refused as it should be`(_ set: String) throws {
        for row in Row.all where row.set == set {
            for box in [nil, 64] { try check(row, box: box) }
        }
    }

    @Test(arguments: Row.sets)
    func `No sound image is refused for its time: as it is, at 1600 pixels, or as an AVIF of full size`(
        _ set: String
    ) throws {
        let requests = [
            (Recipe(), OutputOptions()), (.box(1600), OutputOptions(format: .avif)),
            (Recipe(), OutputOptions(format: .avif)),
        ]
        for row in Row.all where row.set == set && row.expected == "decode" {
            let source = try Fixture.bytes(row.file)
            for (recipe, output) in requests {
                let job = ImageJob(source: source, chain: TransformChain(recipe), output: output)
                do { _ = try InProcessImageProcessor().plan(job) } catch {
                    #expect(!"\(error)".contains("processor time"), "\(row.path) as \(output.key): \(error)")
                }
            }
        }
    }

    private func check(_ row: Row, box: Int?) throws {
        let limits = PixelLimits(maxOutputSide: 100_000, maxOutputPixels: 60_000_000)
        do {
            let result = try produce(Fixture.bytes(row.file), .box(box, box), limits: limits)
            #expect(row.expected == "decode" || row.expected == "either", "\(row.path) came out \(result.size)")
            guard row.expected == "decode", let size = row.size else { return }
            let expected = ResizeGeometry(
                source: size, box: Box(width: box, height: box), fit: .inside, enlarge: row.isVector)
            let isEqual = result.size == expected.scaled
            #expect(isEqual || row.isVector && box == nil && isInCSSPixels(result.size, size), "\(row.path)")
        } catch let error as ImageProcessingError {
            #expect(row.allows(error), "\(row.path) expected \(row.expected): \(error)")
        }
    }

    /// Whether a size at 72 units an inch was drawn at the 96 of CSS.
    private func isInCSSPixels(_ size: PixelSize, _ points: PixelSize) -> Bool {
        abs(3 * size.width - 4 * points.width) < 3 && abs(3 * size.height - 4 * points.height) < 3
    }

    struct Row {
        var set: String
        var path: String
        var expected: String
        var size: PixelSize?
        var isVector: Bool

        var file: URL { Fixture.corpus?.appendingPathComponent(path) ?? URL(fileURLWithPath: path) }

        func allows(_ error: ImageProcessingError) -> Bool {
            switch (expected, error) {
            case ("reject", .unsupported), ("reject", .corrupt), ("reject", .tooLarge): true
            case ("either", .unsupported), ("either", .corrupt), ("either", .tooLarge): true
            case ("reject-unsupported", .unsupported), ("limit", .tooLarge): true
            default: false
            }
        }

        static let all: [Row] = {
            guard let corpus = Fixture.corpus,
                let table = try? Fixture.table(corpus.appendingPathComponent("MANIFEST.tsv"))
            else { return [] }
            return table.filter { $0["expected"] != "-" }.map { cells in
                var size: PixelSize?
                if let width = cells["exp_w"].flatMap(Int.init), let height = cells["exp_h"].flatMap(Int.init) {
                    size = PixelSize(width: width, height: height)
                }
                var expected = Fixture.expectedOfThisLibvips[cells["path"] ?? ""] ?? cells["expected"] ?? ""
                // The corpus is older than the decoders of BMP and ICO. Pillow says of these: `ok 48x48`.
                let path = cells["path"] ?? ""
                if [".bmp", ".ico"].contains(where: path.hasSuffix), expected == "reject-unsupported" {
                    let sides = (cells["pillow_13"] ?? "").dropFirst(3).split(separator: "x").compactMap { Int($0) }
                    (expected, size) = ("decode", PixelSize(width: sides.first ?? 0, height: sides.last ?? 0))
                }
                return Row(
                    set: cells["set"] ?? "", path: path, expected: expected, size: size,
                    isVector: cells["format"] == "svg")
            }
        }()

        static let sets = Set(all.map(\.set)).sorted()
    }
}
