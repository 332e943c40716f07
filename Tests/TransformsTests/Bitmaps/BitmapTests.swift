import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// BMP. What each depth and header looks like is in `Fixtures/images/bitmaps`, which `FixtureTableTests` decodes.
struct BitmapTests {
    private static let twoColors: [UInt8] = [10, 20, 30, 0, 40, 50, 60, 0]

    private func pixels(_ file: BitmapFile) throws -> Pixels { try Pixels(produce(file.file).body) }

    private func failure(_ file: BitmapFile) -> ImageProcessingError? {
        do {
            _ = try produce(file.file)
            return nil
        } catch {
            return error
        }
    }

    @Test func `Rows begin at the bottom, or at the top if the height is negative`() throws {
        // Rows of two pixels have two bytes of padding.
        var file = BitmapFile(pixels: [1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0])
        #expect(try pixels(file)[0, 0] == [9, 8, 7] && pixels(file)[1, 1] == [6, 5, 4])
        file.height = -2
        #expect(try pixels(file)[0, 0] == [3, 2, 1] && pixels(file)[1, 1] == [12, 11, 10])
    }

    @Test(
        arguments: [
            (1, [0b1011_0000, 0, 0, 0], [1, 0, 1, 1, 0]), (2, [0b1101_1000, 0b0100_0000, 0, 0], [3, 1, 2, 0, 1]),
            (4, [0x10, 0x23, 0x40, 0], [1, 0, 2, 3, 4]), (8, [4, 3, 2, 1, 0, 0, 0, 0], [4, 3, 2, 1, 0]),
        ] as [(Int, [UInt8], [Int])])
    func `Indices of each depth are read from the left`(bits: Int, row: [UInt8], indices: [Int]) throws {
        let palette = (0..<5).flatMap { index -> [UInt8] in [UInt8(index), 0, UInt8(100 + index), 0] }.prefix(4 << bits)
        let file = BitmapFile(
            width: 5, height: 1, bits: bits, colorsUsed: palette.count / 4, palette: Array(palette), pixels: row)
        let found = try pixels(file)
        #expect((0..<5).map { found[$0, 0] } == indices.map { [100 + $0, 0, $0] })
    }

    @Test func `Colors that the palette lacks are black`() throws {
        let file = BitmapFile(
            width: 3, height: 1, bits: 8, colorsUsed: 2, palette: Self.twoColors, pixels: [0, 1, 200, 0])
        #expect(try (0..<3).map { try pixels(file)[$0, 0] } == [[30, 20, 10], [60, 50, 40], [0, 0, 0]])
        let none = BitmapFile(headerBytes: 12, width: 1, height: 1, bits: 8, pixels: [7, 0, 0, 0])
        #expect(try pixels(none)[0, 0] == [0, 0, 0])
        // A palette that the pixels cut off.
        var cut = file
        (cut.colorsUsed, cut.pixelStart) = (0, 14 + 40 + 4)
        cut.palette = Array(Self.twoColors.prefix(4))
        cut.pixels = [0, 1, 0, 0]
        #expect(try pixels(cut)[0, 0] == [30, 20, 10] && pixels(cut)[1, 0] == [0, 0, 0])
    }

    @Test func `Pixels may begin behind a gap, or where the header does not say`() throws {
        var file = BitmapFile(
            width: 1, height: 1, bits: 8, colorsUsed: 2, palette: Self.twoColors + [9, 9, 9, 9], pixels: [1, 0, 0, 0])
        #expect(try pixels(file)[0, 0] == [60, 50, 40])
        file = BitmapFile(
            width: 1, height: 1, bits: 8, colorsUsed: 2, palette: Self.twoColors, pixels: [1, 0, 0, 0], pixelStart: 0)
        #expect(try pixels(file)[0, 0] == [60, 50, 40])
    }

    @Test func `Channels of any mask are scaled to 8 bits`() throws {
        func masks(_ masks: UInt32...) -> [UInt8] { masks.flatMap { BitmapFile.bytes(Int($0), 4) } }
        var file = BitmapFile(width: 2, height: 1, bits: 16, compression: 3)
        (file.extra, file.pixels) = (masks(0xF000, 0x0FC0, 0x0001), [0x41, 0x58, 0x00, 0x00])
        // 5 of 15, 33 of 63, 1 of 1.
        #expect(try pixels(file)[0, 0] == [85, 134, 255] && pixels(file)[1, 0] == [0, 0, 0])
        file = BitmapFile(width: 1, height: 1, bits: 32, compression: 3)
        (file.extra, file.pixels) = (masks(0x3FF0_0000, 0x000F_FC00, 0x0000_03FF), [0xFF, 0x03, 0x00, 0x20])
        #expect(try pixels(file)[0, 0] == [128, 0, 255])
        file.extra = masks(0, 0, 0xFF)
        #expect(try pixels(file)[0, 0] == [0, 0, 255])
    }

    @Test func `Alpha counts if a mask states it`() throws {
        let fields = [0xFF0000, 0xFF00, 0xFF, 0xFF00_0000].flatMap { BitmapFile.bytes($0, 4) }
        var file = BitmapFile(width: 2, height: 1, bits: 32, pixels: [1, 2, 3, 128, 4, 5, 6, 0])
        #expect(try pixels(file)[0, 0] == [3, 2, 1])
        for (headerBytes, compression) in [(56, 3), (108, 3), (40, 6)] {
            (file.headerBytes, file.compression) = (headerBytes, compression)
            file.extra = fields + Array(repeating: 0, count: max(0, headerBytes - 56))
            #expect(try pixels(file)[0, 0] == [3, 2, 1, 128] && pixels(file)[1, 0][3] == 0, "\(headerBytes)")
        }
        // Without bit fields, only the headers that always have masks state alpha.
        for (headerBytes, hasAlpha) in [(56, false), (108, true), (124, true)] {
            (file.headerBytes, file.compression) = (headerBytes, 0)
            file.extra = fields + Array(repeating: 0, count: headerBytes - 56)
            #expect(try pixels(file)[0, 0] == [3, 2, 1] + (hasAlpha ? [128] : []), "\(headerBytes)")
        }
    }

    @Test func `A bitmap of colors that a mask makes transparent everywhere is transparent`() throws {
        let fields = [0xFF0000, 0xFF00, 0xFF, 0xFF00_0000].flatMap { BitmapFile.bytes($0, 4) }
        let file = BitmapFile(
            headerBytes: 56, width: 2, height: 1, bits: 32, compression: 3, extra: fields,
            pixels: [1, 2, 3, 0, 4, 5, 6, 0])
        #expect(try pixels(file)[0, 0][3] == 0 && pixels(file)[1, 0][3] == 0)
    }

    @Test func `Runs, literals and skips are drawn, and what they leave out is black`() throws {
        let palette = (0..<16).flatMap { index -> [UInt8] in [UInt8(index), 0, 0, 9] }
        // Two pixels of 1, a skip of one right and one up, three literals; the end.
        var file = BitmapFile(width: 5, height: 3, bits: 8, compression: 1, colorsUsed: 16, palette: palette)
        file.pixels = [2, 1, 0, 2, 1, 1, 0, 3, 4, 5, 6, 0, 0, 1]
        var found = try pixels(file)
        func row(_ y: Int) -> [Int] { (0..<5).map { found[$0, y][2] } }
        #expect(row(2) == [1, 1, 0, 0, 0] && row(1) == [0, 0, 0, 4, 5] && row(0) == [0, 0, 0, 0, 0])
        #expect(found[0, 0] == [0, 0, 0])
        // Nibbles in turn, an odd number of literals, ends of rows.
        (file.bits, file.compression) = (4, 2)
        file.pixels = [5, 0x12, 0, 0, 0, 5, 0x34, 0x56, 0x70, 0, 0, 0, 9, 0x88]
        found = try pixels(file)
        #expect(row(2) == [1, 2, 1, 2, 1] && row(1) == [3, 4, 5, 6, 7] && row(0) == [8, 8, 8, 8, 8])
    }

    @Test func `Runs of colors are drawn`() throws {
        // Two of one color, two of two colors and one of a third; the next row begins with a skip.
        let runs: [UInt8] = [2, 1, 2, 3, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 0, 2, 1, 0, 4, 20, 21, 22, 0, 1]
        let file = BitmapFile(
            headerBytes: 64, width: 5, height: 2, bits: 24, compression: 4, extra: Array(repeating: 0, count: 24),
            pixels: runs)
        let found = try pixels(file)
        #expect((0..<5).map { found[$0, 1] } == [[3, 2, 1], [3, 2, 1], [6, 5, 4], [9, 8, 7], [12, 11, 10]])
        #expect((0..<5).map { found[$0, 0] } == [[0, 0, 0]] + Array(repeating: [22, 21, 20], count: 4))
        var cut = file
        for count in [1, 2, 3, 8, runs.count - 4] {
            cut.pixels = Array(runs.prefix(count))
            guard case .corrupt = failure(cut) else {
                Issue.record("\(count)")
                continue
            }
        }
    }

    @Test func `A palette on which the pixels lie is read too`() throws {
        var file = BitmapFile(
            width: 4, height: 1, bits: 8, colorsUsed: 2, palette: Self.twoColors, pixels: [9, 9, 9, 9])
        file.palette[0] = 1
        file.pixelStart = 54
        #expect(try pixels(file)[0, 0] == [60, 50, 40])
    }

    @Test func `What there is of a damaged bitmap is shown if that is asked for`() throws {
        var shown = OutputOptions(format: .png)
        shown.damaged = .show
        let palette = (0..<16).flatMap { index -> [UInt8] in [UInt8(index), 0, 0, 0] }
        let runs = BitmapFile(
            width: 5, height: 3, bits: 8, compression: 1, colorsUsed: 16, palette: palette,
            pixels: [5, 1, 0, 0, 2, 4, 0, 2, 9, 9])
        let rows = BitmapFile(
            width: 5, height: 3, bits: 8, colorsUsed: 16, palette: palette,
            pixels: [1, 1, 1, 1, 1, 0, 0, 0, 4, 4, 4])
        for (file, second) in [(runs, [0, 0, 4]), (rows, [0, 0, 0])] {
            guard case .corrupt = failure(file) else {
                Issue.record("\(file.compression)")
                continue
            }
            let result = try produce(file.file, output: shown)
            let found = try Pixels(result.body)
            #expect(result.isDamaged && found[4, 2] == [0, 0, 1] && found[0, 0] == [0, 0, 0])
            #expect(found[0, 1] == second)
        }
    }

    @Test(
        arguments: [
            [5, 1, 0, 0, 5, 1, 0, 0, 4, 1], [5, 1, 0, 0, 5, 1], [5, 1, 0], [], [0, 2, 1], [0, 2, 6, 0], [0, 2, 0, 3],
            [0, 9, 1, 1], [0, 2, 6, 0, 0, 1], [0, 2, 0, 3, 0, 1], [3, 1, 0, 2, 3, 0, 0, 1],
        ] as [[UInt8]])
    func `Runs that end too early or leave the image are corrupt`(_ runs: [UInt8]) {
        let file = BitmapFile(
            width: 5, height: 3, bits: 8, compression: 1, colorsUsed: 2, palette: Self.twoColors, pixels: runs)
        guard case .corrupt = failure(file) else {
            Issue.record("\(runs): \(String(describing: failure(file)))")
            return
        }
    }

    @Test func `An embedded profile is applied`() throws {
        let swapped = try Fixture.image("color/icc-swap.png")
        let (profile, plain) = try VipsLoader.png.withImage(of: swapped) { image throws(VipsError) in
            (image.blob("icc-profile-data"), try image.rendered().samples())
        }
        let bytes = Array(try #require(profile).readableBytesView)
        let samples = Array(plain.readableBytesView)
        var file = BitmapFile(headerBytes: 124, width: 200, height: -200, bits: 24)
        for pixel in stride(from: 0, to: samples.count, by: 3) {
            file.pixels += [samples[pixel + 2], samples[pixel + 1], samples[pixel]]
        }
        let zeros = [UInt8](repeating: 0, count: 52)
        file.extra = zeros.prefix(16) + Array("DEBM".utf8) + zeros
        file.extra += BitmapFile.bytes(124 + file.pixels.count, 4)
        file.extra += BitmapFile.bytes(bytes.count, 4) + [0, 0, 0, 0]
        file.pixels += bytes
        #expect(try pixels(file).samples == Pixels(produce(swapped).body).samples)
    }

    @Test(arguments: [
        (0, 2), (-2, 2), (2, 0), (Int(Int32.min), 1), (65_536, 65_536), (20_000_001, 1), (1, -20_000_001),
    ])
    func `Sides of nothing are corrupt, huge ones too large`(width: Int, height: Int) {
        let file = BitmapFile(width: width, height: height, pixels: Array(repeating: 0, count: 16))
        switch failure(file) {
        case .corrupt: #expect(width <= 0 || height == 0)
        case .tooLarge: #expect(width > 60_000 || height < -60_000)
        case let other: Issue.record("\(String(describing: other))")
        }
    }

    @Test func `A missing byte is a corrupt image, missing padding is not`() throws {
        var file = BitmapFile(pixels: [1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12])
        #expect(try pixels(file)[1, 0] == [12, 11, 10])
        file.pixels.removeLast()
        #expect(failure(file) == .corrupt("bitmap ends before its last row"))
        file.pixelStart = 50
        #expect(failure(file) == .corrupt("bitmap's pixels begin inside its header"))
        #expect(throws: ImageProcessingError.corrupt("bitmap ends inside its header")) {
            try produce(try #require(file.file.getSlice(at: 0, length: 40)))
        }
    }

    @Test(arguments: [
        (40, 0, 4), (40, 24, 5), (40, 24, 1), (40, 4, 1), (40, 8, 2), (40, 64, 0), (40, 24, 3), (56, 24, 4),
        (64, 8, 4), (64, 1, 3), (13, 24, 0), (128, 24, 0), (12, 32, 0), (40, 3, 0),
    ])
    func `Other headers, depths and compressions are unsupported`(header: Int, bits: Int, compression: Int) {
        let extra = Array(repeating: UInt8(0), count: 128)
        let file = BitmapFile(
            headerBytes: header, bits: bits, compression: compression, extra: extra, pixels: extra)
        #expect(failure(file) == .unsupported)
    }

    @Test func `A bitmap's document has its density`() throws {
        let file = BitmapFile(pixels: Array(repeating: 0, count: 16))
        let document = String(buffer: try produce(file.file, output: OutputOptions(format: .json)).body)
        #expect(document.contains(#""density":{"x":50.8,"y":101.6}"#))
        #expect(document.contains(#""format":"bmp""#) && document.contains(#""mime_type":"image/bmp""#))
    }

    @Test func `A bitmap becomes JPEG, and PNG with alpha`() throws {
        #expect(try produce(Fixture.image("bitmaps/twenty-four-bit.bmp"), output: OutputOptions()).format == .jpeg)
        #expect(try produce(Fixture.image("bitmaps/alpha-5.bmp"), output: OutputOptions()).format == .png)
        #expect(try produce(Fixture.image("icons/opaque-png.ico"), output: OutputOptions()).format == .png)
    }
}
