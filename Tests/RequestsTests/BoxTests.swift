import DarkroomRequests
import Testing

struct BoxTests {
    private let image = PixelSize(width: 600, height: 400)

    @Test(
        arguments: [
            (Box(horizontal: .percent(50), vertical: nil), [300, nil]),
            (Box(horizontal: .percent(50), vertical: .pixels(90)), [300, 90]),
            (Box(horizontal: .percent(1), vertical: .percent(33.33)), [6, 133]),
            (Box(horizontal: .pixels(160), vertical: nil, ratio: AspectRatio(width: 16, height: 9)), [160, 90]),
            (Box(horizontal: nil, vertical: .percent(50), ratio: AspectRatio(width: 1, height: 2)), [100, 200]),
            (Box(horizontal: nil, vertical: nil, ratio: AspectRatio(width: 1, height: 1)), [400, 400]),
            (Box(horizontal: nil, vertical: nil, ratio: AspectRatio(width: 2, height: 1)), [600, 300]),
            (Box(horizontal: .percent(10), vertical: nil, minWidth: 100), [100, nil]),
            (Box(horizontal: .percent(10), vertical: .percent(10), minWidth: 90), [90, 60]),
            (Box(horizontal: nil, vertical: nil, minWidth: 900, minHeight: 5), [nil, nil]),
        ] as [(Box, [Int?])])
    func `A box has its sides once the image is known`(_ box: Box, _ sides: [Int?]) {
        let measured = box.measured(in: image, for: .cover)
        #expect([measured.width, measured.height] == sides)
        #expect(measured.measured(in: PixelSize(width: 7, height: 7), for: .cover) == measured)
    }

    @Test func `Around an image a ratio makes the smallest box that has room for it`() {
        for (ratio, expected) in [([1, 1], [600, 600]), ([3, 1], [1200, 400]), ([3, 2], [600, 400])] {
            let box = Box(
                horizontal: nil, vertical: nil, ratio: AspectRatio(width: ratio[0], height: ratio[1]))
            #expect(box.measured(in: image, for: .contain).size == PixelSize(width: expected[0], height: expected[1]))
        }
    }

    @Test func `Rectangles of a ratio are exact to a pixel, and touch the image`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<5_000 {
            let image = PixelSize(
                width: .random(in: 1...3_000, using: &random), height: .random(in: 1...3_000, using: &random))
            let ratio = AspectRatio(
                width: .random(in: 1...40, using: &random), height: .random(in: 1...40, using: &random))
            let (inner, outer) = (ratio.largest(within: image), ratio.smallest(around: image))
            for size in [inner, outer] {
                let across = Double(size.height) * Double(ratio.width) / Double(ratio.height)
                let down = Double(size.width) * Double(ratio.height) / Double(ratio.width)
                #expect(
                    abs(across - Double(size.width)) <= 1 || abs(down - Double(size.height)) <= 1,
                    "\(ratio) \(image) \(size)")
            }
            #expect(inner.width == image.width || inner.height == image.height)
            #expect(inner.width <= image.width && inner.height <= image.height)
            #expect(outer.width == image.width || outer.height == image.height)
            #expect(outer.width >= image.width && outer.height >= image.height)
        }
    }

    @Test func `Equal ratios are equal`() {
        #expect(AspectRatio(width: 1600, height: 900) == AspectRatio(width: 16, height: 9))
        #expect(AspectRatio(width: 191, height: 100) == AspectRatio(width: 382, height: 200))
        #expect(AspectRatio(width: 0, height: -4) == AspectRatio(width: 1, height: 1))
    }

    @Test func `Percentages are written with the decimals that they have`() {
        let texts = [(5000, "50p"), (3333, "33.33p"), (1050, "10.5p"), (5, "0.05p"), (80_000, "800p")]
        for (hundredths, text) in texts { #expect("\(Percentage(hundredths: hundredths))" == text) }
    }
}
