import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct InstalledFontsTests {
    @Test func `Scripts without a font are named, each with the package that has one`() {
        let latin = InstalledFonts { InstalledFonts.scripts[$0].name == "Latin" }
        #expect(latin.missing == InstalledFonts.scripts.map(\.name).filter { $0 != "Latin" })
        #expect(latin.packages == ["fonts-noto-cjk", "fonts-noto-color-emoji", "fonts-noto-core"])
        let most = InstalledFonts { !["Korean", "Japanese"].contains(InstalledFonts.scripts[$0].name) }
        #expect(most.missing == ["Japanese", "Korean"])
        #expect(most.packages == ["fonts-noto-cjk"])
    }

    @Test func `Nothing is missing where every script has a font`() {
        let all = InstalledFonts { _ in true }
        #expect(all.missing.isEmpty)
        #expect(all.packages.isEmpty)
    }

    @Test func `Fontconfig and Pango agree on the characters that fonts have`() throws {
        let characters = InstalledFonts.scripts.map(\.character) + ["\u{E000}", "\u{10FFFD}"]
        let found = try #require(VipsText.fontsHave(characters))
        #expect(found[0], "there is no font for Latin")
        for (character, has) in zip(characters, found) {
            let measure = VipsText(String(character), size: 20, width: nil).measured()
            #expect(measure?.missingGlyphs == (has ? 0 : 1), "U+\(String(character.value, radix: 16))")
        }
    }
}
