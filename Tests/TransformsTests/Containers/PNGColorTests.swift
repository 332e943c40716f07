import NIOCore
import Testing

@testable import DarkroomTransforms

struct PNGColorTests {
    private static let p3 = ("cICP", [12, 13, 0, 1] as [UInt8])
    private static let gamma = ("gAMA", words(45_455))
    private static let sRGB = ("sRGB", [0] as [UInt8])
    private static let chromaticities = (
        "cHRM", words(31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000)
    )

    private static func words(_ numbers: UInt32...) -> [UInt8] {
        numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
    }

    private static func color(_ chunks: [(String, [UInt8])]) throws -> (code: ColorCode, isFirst: Bool)? {
        var file = PNGFile(try Drawing.flat(2, 2, [9, 9, 9]).png())
        for (type, content) in chunks { file.insert(type, content, before: "IDAT") }
        return PNGContainer.color(of: file.bytes)
    }

    @Test func `Code points take precedence over sRGB, and sRGB over gamma and chromaticities`() throws {
        let all = try #require(try Self.color([Self.gamma, Self.chromaticities, Self.sRGB, Self.p3]))
        #expect(all.code.fields == [12, 13, 0, 3] && all.isFirst)
        #expect(try Self.color([Self.gamma, Self.chromaticities, Self.sRGB]) == nil)
        let measured = try #require(try Self.color([Self.chromaticities, Self.gamma]))
        #expect(
            measured.code.fields == [45_455, 31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000]
                && !measured.isFirst)
        #expect(try Self.color([Self.gamma])?.code.fields == [45_455])
        #expect(try Self.color([Self.chromaticities]) == nil)
        #expect(try Self.color([]) == nil)
    }

    @Test func `The brightest light of content counts before the light of its display`() throws {
        let hdr = ("cICP", [9, 16, 0, 1] as [UInt8])
        let content = ("cLLI", Self.words(4_700_000, 1_000_000))
        let display = ("mDCV", [UInt8](repeating: 0, count: 16) + Self.words(6_000_000, 1))
        #expect(try Self.color([display, content, hdr])?.code.fields == [9, 16, 0, 3, 470])
        #expect(try Self.color([display, ("cLLI", Self.words(0, 0)), hdr])?.code.fields == [9, 16, 0, 3, 600])
        #expect(try Self.color([("cLLI", [1, 2, 3]), hdr])?.code.fields == [9, 16, 0, 3])
        #expect(try Self.color([content]) == nil)
    }

    static let meaningless: [(String, [UInt8])] = [
        ("cICP", [255, 13, 0, 1]), ("cICP", [12, 255, 0, 1]), ("cICP", [2, 13, 0, 1]), ("cICP", [12, 2, 0, 1]),
        ("cICP", [12, 13, 1, 1]), ("cICP", [12, 13, 0, 0]), ("cICP", [12, 13, 0]), ("cICP", [12, 13, 0, 1, 0]),
        ("cICP", [3, 13, 0, 1]), ("cICP", []),
        ("gAMA", words(0)), ("gAMA", words(1 << 31)), ("gAMA", [1, 2, 3]),
        ("sRGB", [4]), ("sRGB", [0, 0]), ("sRGB", []),
        ("cHRM", words(0, 0, 0, 0, 0, 0, 0, 0)),
        ("cHRM", words(31_270, 0, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000)),
        ("cHRM", words(31_270, 32_900, 10_000, 10_000, 20_000, 20_000, 30_000, 30_000)),
        ("cHRM", words(31_270, 32_900, 164_000, 33_000, 30_000, 60_000, 15_000, 6_000)),
        ("cHRM", words(31_270, 32_900, 64_000, .max, 30_000, 60_000, 15_000, 6_000)),
        ("cHRM", words(31_270, 32_900)),
    ]

    @Test(arguments: PNGColorTests.meaningless)
    func `A chunk without a color space counts as missing`(type: String, content: [UInt8]) throws {
        #expect(try Self.color([(type, content)]) == nil)
        let others = try Self.color([(type, content), Self.gamma].reversed())
        #expect(type == "gAMA" || others?.code.fields == [45_455])
    }
}
