import DarkroomRequests
import Foundation
import Testing

@testable import DarkroomTransforms

struct ResizeGeometryTests {
    struct Case: CustomTestStringConvertible {
        var fit: Fit
        var enlarge = false
        var source: (Int, Int)
        var box: (Int?, Int?)
        var scaled: (Int, Int)
        var canvas: (Int, Int)?

        var testDescription: String { "\(fit) \(enlarge) \(source) in \(box)" }
    }

    @Test(arguments: [
        Case(fit: .inside, source: (400, 200), box: (100, 100), scaled: (100, 50)),
        Case(fit: .inside, source: (400, 200), box: (100, nil), scaled: (100, 50)),
        Case(fit: .inside, source: (400, 200), box: (nil, 100), scaled: (200, 100)),
        Case(fit: .inside, source: (400, 200), box: (nil, nil), scaled: (400, 200)),
        Case(fit: .inside, source: (400, 200), box: (800, 800), scaled: (400, 200)),
        Case(fit: .inside, enlarge: true, source: (400, 200), box: (800, 800), scaled: (800, 400)),
        Case(fit: .inside, source: (1000, 1), box: (100, 100), scaled: (100, 1)),
        Case(fit: .inside, source: (1003, 669), box: (120, nil), scaled: (120, 80)),
        Case(fit: .outside, source: (400, 200), box: (100, 100), scaled: (200, 100)),
        Case(fit: .outside, source: (400, 200), box: (100, 300), scaled: (400, 200)),
        Case(fit: .outside, enlarge: true, source: (400, 200), box: (100, 300), scaled: (600, 300)),
        Case(fit: .cover, source: (400, 200), box: (100, 100), scaled: (200, 100), canvas: (100, 100)),
        Case(fit: .cover, source: (400, 200), box: (400, 400), scaled: (400, 200), canvas: (200, 200)),
        Case(fit: .cover, enlarge: true, source: (400, 200), box: (400, 400), scaled: (800, 400), canvas: (400, 400)),
        Case(fit: .contain, source: (400, 200), box: (100, 100), scaled: (100, 50), canvas: (100, 100)),
        Case(fit: .contain, source: (400, 200), box: (600, 600), scaled: (400, 200), canvas: (600, 600)),
        Case(fit: .contain, enlarge: true, source: (400, 200), box: (600, 600), scaled: (600, 300), canvas: (600, 600)),
        Case(fit: .fill, source: (400, 200), box: (100, 100), scaled: (100, 100)),
        Case(fit: .fill, source: (400, 200), box: (800, 800), scaled: (200, 200)),
        Case(fit: .fill, enlarge: true, source: (400, 200), box: (800, 800), scaled: (800, 800)),
    ])
    func `A fit gives this scale and this canvas`(_ row: Case) {
        let geometry = ResizeGeometry(
            source: PixelSize(width: row.source.0, height: row.source.1),
            box: Box(width: row.box.0, height: row.box.1), fit: row.fit, enlarge: row.enlarge)
        let canvas = row.canvas ?? row.scaled
        #expect(geometry.scaled == PixelSize(width: row.scaled.0, height: row.scaled.1))
        #expect(geometry.canvas == PixelSize(width: canvas.0, height: canvas.1))
    }

    @Test func `The sizes of extreme sources, ratios and percentages are numbers`() {
        let ratios = [nil, AspectRatio(width: 999_999, height: 1), AspectRatio(width: 1, height: 999_999)]
        for source in [PixelSize(width: 1, height: PixelSize.maxSide), PixelSize(width: PixelSize.maxSide, height: 1)] {
            for (ratio, fit) in ratios.flatMap({ ratio in Fit.allCases.map { (ratio, $0) } }) {
                let sides: [(Length?, Length?)] = [
                    (.percent(800), nil), (nil, .percent(800)), (.pixels(8192), .percent(800)),
                ]
                for (across, down) in sides {
                    let box = Box(
                        horizontal: across, vertical: down, ratio: ratio, minWidth: 8192, minHeight: 8192)
                    let geometry = ResizeGeometry(source: source, box: box, fit: fit, enlarge: true)
                    #expect(max(geometry.scaled.width, geometry.scaled.height) <= PixelSize.maxSide * 8)
                    #expect(geometry.canvas.width >= 1 && geometry.canvas.height >= 1)
                }
            }
        }
    }

    @Test func `No result has an empty side or, without enlarging, a side longer than its source`() {
        for fit in Fit.allCases {
            for width in [1, 2, 7, 640, 4001] {
                for height in [1, 3, 480, 5000] {
                    for box in [Box(width: 1, height: 1), Box(width: 300, height: 7), Box(width: nil, height: 90)] {
                        let geometry = ResizeGeometry(
                            source: PixelSize(width: width, height: height), box: box, fit: fit, enlarge: false)
                        #expect((1...width).contains(geometry.scaled.width))
                        #expect((1...height).contains(geometry.scaled.height))
                        #expect(fit == .contain || geometry.canvas.width <= geometry.scaled.width)
                    }
                }
            }
        }
    }

    @Test(.enabled(if: Fixture.corpus != nil))
    func `Other services' resize cases give the same sizes`() throws {
        let file = try #require(Fixture.corpus).appendingPathComponent("cases/resize-cases.jsonl")
        let cases = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(ForeignCase.self, from: Data($0.utf8))
        }.filter { $0.tier == 1 && Self.otherwise[$0.id] == nil }
        #expect(cases.count > 20)
        for row in cases {
            let image = try #require(Fixture.corpus).appendingPathComponent(row.input)
            var recipe = Recipe.box(row.req.w, row.req.h, enlarge: row.req.enlarge ?? true)
            recipe.fit = row.req.fit.flatMap(Fit.init) ?? .inside
            let size = try produce(Fixture.bytes(image), recipe).size
            #expect(size.width == row.expect.w ?? size.width, "\(row.id)")
            #expect(size.height == row.expect.h ?? size.height, "\(row.id)")
        }
    }

    /// Cases with a different result on purpose.
    private static let otherwise = [
        "imgproxy-9496ec63": "cover that may not enlarge keeps the box's aspect ratio",
        "weserv-f40a6c08": "one side alone leaves the other to the aspect ratio, with fill too",
    ]

    private struct ForeignCase: Decodable {
        struct Request: Decodable {
            var w: Int?
            var h: Int?
            var fit: String?
            var enlarge: Bool?
        }
        struct Size: Decodable {
            var w: Int?
            var h: Int?
        }
        var id: String
        var tier: Int
        var input: String
        var req: Request
        var expect: Size
    }
}
