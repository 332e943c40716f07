import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

struct ColorCodeTests {
    private static func points(_ primaries: Int, _ transfer: Int, isPNG: Bool = false) -> ColorCode {
        .codePoints(
            CodePoints(
                primaries: primaries, transfer: transfer, matrix: 0, isFullRange: true, hasDisplayCurve: isPNG))
    }

    /// The color as headless Chromium shows it, or by the formulas where no file was compared.
    static let colors: [(ColorCode, [UInt8], [Int])] = [
        (points(12, 13), [200, 60, 60], [217, 42, 52]), (points(12, 13), [60, 200, 60], [0, 203, 11]),
        (points(12, 13), [128, 128, 128], [128, 128, 128]), (points(12, 1), [200, 60, 60], [217, 42, 52]),
        (points(9, 13), [200, 60, 60], [247, 0, 53]), (points(9, 14), [200, 60, 60], [247, 0, 53]),
        (points(12, 1, isPNG: true), [200, 70, 60], [214, 42, 38]),
        (points(9, 14, isPNG: true), [200, 60, 60], [244, 0, 40]),
        (points(1, 15, isPNG: true), [128, 72, 16], [121, 62, 4]),
        (points(12, 13, isPNG: true), [200, 60, 60], [217, 42, 52]), (points(1, 8), [128, 0, 255], [188, 0, 255]),
        (points(1, 4), [128, 128, 128], [129, 129, 129]), (points(1, 5), [128, 128, 128], [106, 106, 106]),
        (points(1, 7), [128, 128, 128], [141, 141, 141]), (points(1, 17), [128, 128, 128], [118, 118, 118]),
        (points(1, 13), [200, 60, 61], [200, 60, 61]), (points(2, 2), [200, 60, 61], [200, 60, 61]),
        (points(255, 255), [200, 60, 61], [200, 60, 61]), (points(12, 255), [200, 60, 61], [200, 60, 61]),
        (.measured(gamma: 100_000, nil), [128, 0, 255], [188, 0, 255]),
        (.measured(gamma: 45_455, nil), [200, 60, 61], [200, 60, 61]),
        (.measured(gamma: 43_000, nil), [200, 60, 61], [199, 52, 53]),
        (.measured(gamma: 1, nil), [254, 0, 255], [0, 0, 255]),
        (.measured(gamma: .max, nil), [1, 0, 255], [255, 0, 255]),
        (.measured(gamma: 45_455, Chromaticities(codePoint: 12)), [200, 60, 60], [219, 37, 49]),
    ]

    @Test(arguments: ColorCodeTests.colors)
    func `Samples become the sRGB colors that their code means`(
        code: ColorCode, color: [UInt8], expected: [Int]
    ) throws {
        let image = try Drawing.flat(3, 2, color).describing(code, overProfile: false)
        #expect(try apply(ColorConversion(), to: image).isFlat(expected))
        // Nothing is converted a second time.
        #expect(try image.convertedToSRGB().asPixels().isFlat(expected))
        let translucent = try Drawing.flat(3, 2, color + [90]).describing(code, overProfile: false)
        #expect(try apply(ColorConversion(), to: translucent).isFlat(expected + [90]))
        #expect(ColorCode(fields: code.fields)?.space == code.space)
    }

    @Test func `Samples of 16 bits and gray samples are converted too`() throws {
        let linear = ColorCode.measured(gamma: 100_000, Chromaticities(codePoint: 9))
        let gray = try Drawing.flat(3, 2, [128]).describing(linear, overProfile: false)
        #expect(try apply(ColorConversion(), to: gray).isFlat([188, 188, 188]))
        let wide = try Drawing.flat(3, 2, [128, 128, 128, 90]).applying("linear", ["a": .doubles([257]), "b": 0])
            .applying("cast", ["format": "ushort"]).applying("copy", ["interpretation": "rgb16"])
            .describing(linear, overProfile: false)
        #expect(try apply(ColorConversion(), to: wide).isFlat([188, 188, 188, 90]))
    }

    /// 203 nits are diffuse white, and 1,000 nits are the peak; the first three are as Chromium shows them.
    static let light: [(Int, [Double], [Int])] = [
        (16, [38_055, 38_055, 38_055], [188, 188, 188]), (16, [23_396, 23_396, 23_396], [63, 63, 63]),
        (16, [49_270, 49_270, 49_270], [255, 255, 255]), (16, [65_535, 65_535, 65_535], [255, 255, 255]),
        (16, [0, 0, 0], [0, 0, 0]), (16, [38_055, 20_000, 20_000], [233, 0, 36]), (16, [0, 0, 49_270], [0, 0, 255]),
        (18, [49_151, 49_151, 49_151], [188, 188, 188]), (18, [32_768, 32_768, 32_768], [99, 99, 99]),
        (18, [65_535, 65_535, 65_535], [255, 255, 255]), (18, [49_151, 0, 0], [209, 0, 0]),
        (18, [0, 0, 0], [0, 0, 0]),
    ]

    @Test(arguments: ColorCodeTests.light)
    func `HDR is tone-mapped, and its hues stay`(transfer: Int, samples: [Double], expected: [Int]) throws {
        let image = try Self.wide(samples).describing(Self.points(9, transfer), overProfile: false)
        #expect(image.statedSpace?.curve.isHDR == true)
        #expect(try apply(ColorConversion(), to: image).isFlat(expected, tolerance: 1))
    }

    /// What light of 20, 150, 203, 300, 470 and 1,000 nits becomes, as Chromium shows PNGs with `cLLI`.
    static let peaks: [(Int, [Int])] = [
        (100, [88, 223, 255, 255, 255, 255]), (300, [83, 211, 241, 255, 255, 255]),
        (470, [76, 195, 223, 244, 255, 255]), (707, [69, 179, 205, 228, 243, 255]),
        (1000, [63, 164, 188, 212, 230, 255]), (4000, [63, 164, 188, 202, 211, 226]),
    ]

    @Test(arguments: ColorCodeTests.peaks)
    func `The brightest light that a file states decides how bright the others are shown`(
        peakNits: Int, expected: [Int]
    ) throws {
        let code = ColorCode.codePoints(
            CodePoints(primaries: 9, transfer: 16, matrix: 0, isFullRange: true, peakNits: peakNits))
        #expect(ColorCode(fields: code.fields)?.space == code.space)
        for (sample, byte) in zip([23_397.0, 35_999, 38_055, 40_754, 43_903, 49_271], expected) {
            let image = try Self.wide([sample, sample, sample]).describing(code, overProfile: false)
            #expect(try apply(ColorConversion(), to: image).isFlat([byte, byte, byte], tolerance: 2), "\(sample)")
        }
    }

    @Test(arguments: [0, 203, 204, 470, 1000, 4000, 10_000, .max])
    func `Brighter light is never shown darker, and banding does not appear`(peakNits: Int) throws {
        let mapping = ToneMapping(peakNits: peakNits)
        var (last, steps) = (-1.0, 0)
        for sample in 0...1000 {
            let light = TransferCurve.pq.light(Double(sample) / 1000)
            let shown = light * mapping.gain(light)
            #expect(shown >= last - 1e-9 && shown <= 1)
            let byte = SRGBCurve.byte(shown)
            if byte != SRGBCurve.byte(max(last, 0)) { steps += 1 }
            last = shown
        }
        #expect(steps > 200 && last == 1)
    }

    @Test(arguments: [TransferCurve.pq, .hlg])
    func `A profile for HDR is known by its curve or its code points`(curve: TransferCurve) throws {
        let table = (0..<4096).flatMap { index -> [UInt8] in
            let entry = UInt16((curve.light(Double(index) / 4095) / curve.light(1) * 65535).rounded())
            return [UInt8(entry >> 8), UInt8(entry & 255)]
        }
        let colorants = try #require(Chromaticities.bt2020.toXYZ)
        let tags = [
            ("rTRC", Self.tag("curv", [0, 0, 16, 0] + table)), ("rXYZ", Self.xyz(colorants.red)),
            ("gXYZ", Self.xyz(colorants.green)), ("bXYZ", Self.xyz(colorants.blue)),
        ]
        let byCurve = ICCProfile(bytes: Self.profile(tags)).spaceOfHDR
        #expect(byCurve?.curve == curve && byCurve?.matrix(to: .bt2020) == nil)
        let code: UInt8 = curve == .pq ? 16 : 18
        let byCode = ICCProfile(bytes: Self.profile([("cicp", Self.tag("cicp", [9, code, 0, 1]))])).spaceOfHDR
        #expect(byCode?.curve == curve)
        for other in [[9, 13, 0, 1], [255, code, 0, 1], [9, 255, 0, 1]] as [[UInt8]] {
            #expect(ICCProfile(bytes: Self.profile([("cicp", Self.tag("cicp", other))])).spaceOfHDR == nil)
        }
    }

    private static func wide(_ samples: [Double]) throws -> VipsImage {
        try Drawing.flat(3, 2, [0, 0, 0])
            .applying("linear", ["a": .doubles([1]), "b": .doubles(samples)])
            .applying("cast", ["format": "ushort"]).applying("copy", ["interpretation": "rgb16"])
    }

    private static func tag(_ type: String, _ content: [UInt8]) -> [UInt8] {
        Array(type.utf8) + [0, 0, 0, 0] + content
    }

    private static func xyz(_ color: SIMD3<Double>) -> [UInt8] {
        tag(
            "XYZ ",
            (0..<3).flatMap { index in
                let fixed = UInt32(bitPattern: Int32((color[index] * 65536).rounded()))
                return (0..<4).map { UInt8(truncatingIfNeeded: fixed >> (24 - 8 * $0)) }
            })
    }

    private static func profile(_ tags: [(String, [UInt8])]) -> ByteBuffer {
        var file = ByteBuffer(repeating: 0, count: 128)
        file.setString("RGB ", at: 16)
        file.writeInteger(UInt32(tags.count))
        var offset = 132 + 12 * tags.count
        for (name, content) in tags {
            file.writeString(name)
            file.writeInteger(UInt32(offset))
            file.writeInteger(UInt32(content.count))
            offset += content.count
        }
        for (_, content) in tags { file.writeBytes(content) }
        return file
    }
}
