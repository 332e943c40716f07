import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct PaletteTests {
    private let red = Color(red: 220, green: 30, blue: 30)
    private let blue = Color(red: 30, green: 60, blue: 200)

    @Test func `Colors come by how much they fill, and near ones are one`() {
        let nearlyRed = Color(red: 216, green: 34, blue: 30)
        let pixels = [red, red, nearlyRed, nearlyRed].flatMap { Array(repeating: $0, count: 30) }
        let palette = Palette(Thumbnail(width: 10, pixels: pixels + Array(repeating: blue, count: 40)))
        #expect(palette.colors == [Color(red: 218, green: 32, blue: 30), blue])
        #expect(palette.dominant.css == "#da201e")
    }

    @Test func `There are six colors at most, and no specks`() {
        let colors = (0..<8).map {
            Color(red: $0 & 1 == 0 ? 0 : 255, green: $0 & 2 == 0 ? 0 : 255, blue: $0 & 4 == 0 ? 0 : 255)
        }
        #expect(Palette(Thumbnail(width: 8, pixels: colors)).colors.count == Palette.maxColors)
        let speck = Array(repeating: blue, count: 999) + [red]
        #expect(Palette(Thumbnail(width: 10, pixels: speck)).colors == [blue])
    }

    @Test func `A flat area has its own color, not one of its edges`() {
        let edge = Color(red: 255, green: 244, blue: 244)
        let pixels = (0..<100).map { $0 % 4 == 0 ? edge : .white }
        #expect(Palette(Thumbnail(width: 10, pixels: pixels)).dominant == .white)
    }

    @Test func `The average is one of light`() {
        let checks = Thumbnail(width: 2, pixels: [.white, Color(red: 0, green: 0, blue: 0)])
        #expect(Palette(checks).average == Color(red: 188, green: 188, blue: 188))
    }

    @Test func `What is transparent does not count, and nothing at all is white`() {
        let half = Thumbnail(width: 2, pixels: [red, .transparent, .transparent, .transparent])
        #expect(Palette(half).colors == [red])
        #expect(Palette(half).average == red)
        let nothing = Palette(.flat(3, 3, .transparent))
        #expect(nothing.colors == [.white])
        #expect(nothing.average == .white)
    }
}
