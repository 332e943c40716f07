import Testing

@testable import DarkroomTransforms

/// Colors and conditions of style sheets that browsers know. Colors are as Chromium 156 shows them.
struct SVGColorsTests {
    @Test(arguments: [
        ("oklch(60% 0.15 150)", [37, 152, 77]), ("OKLCH(0.6 0.15 150deg)", [37, 152, 77]),
        ("oklab(60% -0.1 0.1)", [89, 146, 51]), ("lab(60% -40 40)", [81, 162, 68]),
        ("lch(60% 50 150)", [57, 164, 98]), ("hwb(120 20% 40%)", [51, 153, 51]),
        ("color(srgb 0.2 0.6 0.3)", [51, 153, 77]), ("color(display-p3 0.2 0.6 0.3)", [0, 156, 67]),
        ("color(srgb-linear 1 0 none)", [255, 0, 0]), ("hwb(.5turn 60% 60%)", [128, 128, 128]),
    ])
    func `Colors are converted to sRGB`(color: String, expected: [Int]) throws {
        let converted = SVGColors.inSRGB("fill:\(color);a:b()")
        #expect(converted.hasPrefix("fill:rgb(") && converted.hasSuffix(");a:b()"), "\(converted)")
        let samples = converted.dropFirst(9).prefix { $0 != ")" }.split(separator: ",").compactMap { Int($0) }
        #expect(samples.count == 3 && zip(samples, expected).allSatisfy { abs($0 - $1) <= 3 }, "\(converted)")
    }

    @Test(
        arguments: [
            ("oklch(100% 0 0 / 50%)", "rgba(255,255,255,0.5)"), ("lab(0 0 0/.25)", "rgba(0,0,0,0.25)"),
            ("a{fill:light-dark(red, blue)}", "a{fill:red}"), ("lab(0 0 0)lab(100 0 0)", "rgb(0,0,0)rgb(255,255,255)"),
            ("icc-color(srgb 1 1 1)", nil), ("color(foo 1 1 1)", nil), ("lab(1 1)", nil), ("lab(1 1 x)", nil),
            ("lab(1e300 1 1)", nil), ("lab(nan 1 1)", nil), ("oklch(from red l c h)", nil), ("lab(", nil), ("(", nil),
            ("lab(1 1 1", nil), ("light-dark(rgb(1,2,3),red)", nil), ("color()", nil),
        ] as [(String, String?)])
    func `Alpha is kept, and other functions stay as they are`(text: String, expected: String?) {
        #expect(SVGColors.inSRGB(text) == expected ?? text)
    }

    @Test(
        arguments: [
            ("(display:grid)", true), ("not (display: grid)", false), ("(fill:red) and (not (fill:red))", false),
            ("(fill:red)or(x:y)", true), ("(fill:red) and (x:y)", nil), ("(x:y)", nil), ("(--a:b)", true),
            ("(-moz-appearance:none)", false), ("((fill:oklch(1 0 0)) or (x:y))", true), ("selector(a)", nil),
            ("", nil),
            ("(fill:red) and (fill:red) or (fill:red)", nil), ("(fill:red", nil), ("(fill)", nil), ("not", nil),
            ("(display:-webkit-box)", nil), ("(not (fill:red))", false),
        ] as [(String, Bool?)])
    func `A condition of support holds in browsers, does not hold, or is unknown`(text: String, expected: Bool?) {
        #expect(SVGSupportsCondition.holds(text) == expected)
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["(", "not ", "lab(", "lab(1 ", "(fill:red) and ", "((", "light-dark("])
    func `A hostile text takes time in proportion to its length`(part: String) {
        let text = String(repeating: part, count: 100_000)
        _ = SVGColors.inSRGB(text)
        _ = SVGSupportsCondition.holds(String(text.prefix(1024)))
    }
}
