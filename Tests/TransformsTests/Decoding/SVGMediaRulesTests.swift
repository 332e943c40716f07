import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Conditional rules of style sheets, which librsvg leaves out.
struct SVGMediaRulesTests {
    @Test(
        arguments: [
            ("screen", true), ("all", true), ("", true), (" ONLY  Screen ", true), ("print", false),
            ("not print", true),
            ("not screen", false), ("print, screen", true), ("(prefers-color-scheme: light)", true),
            ("screen and (prefers-color-scheme : dark)", false), ("not (prefers-color-scheme:dark)", true),
            ("(prefers-reduced-motion: no-preference)", true), ("print and (min-width:1px)", false),
            ("(min-width:1px)", nil), ("screen and (width &gt;= 1px)", nil), ("print,", nil), ("screen or print", nil),
            ("not (hover)", nil), ("(min-width:1px), screen", true), ("/* a */ screen", nil),
        ] as [(String, Bool?)])
    func `A condition holds for a light screen, does not hold, or is unknown`(list: String, expected: Bool?) {
        #expect(SVGMediaRules.holds(list, in: SVGViewport()) == expected)
    }

    @Test(
        arguments: [
            ("a{b:c}@media screen{d{e:f}}g{}", "a{b:c}d{e:f}g{}", false),
            ("@media print{a{b:c}d{}}e{}", "e{}", false),
            ("@media screen{@media print{a{}}b{}@MEDIA ALL{c{}}}d{}", "b{}c{}d{}", false),
            ("@media print{@media screen{a{}}}b{}", "b{}", false),
            ("@media screen{a{b:'}';/* } */}}c{}", "a{b:'}';/* } */}c{}", false),
            ("@media (min-width:1px){@media screen{a{}}}b{}", nil, true),
            ("@media (width &gt;= 1px){a{}}", nil, true), ("@supports (a:b){c{}}", nil, true),
            ("@layer a, b;@media screen{c{}}", "@layer a, b;c{}", false), ("@layer a{c{}}", "c{}", true),
            ("/* @media screen{ */a{b:\"@media print{\"}", nil, false), ("@font-face{a:b}@import 'c';d{}", nil, false),
            ("@media screen{a{}", "a{}", false), ("@media print{a{", "", false), ("@media screen", nil, false),
            ("a{}}@media screen{b{}}}c{}", "a{}}b{}}c{}", false), ("", nil, false), ("@", nil, false),
            ("'@media", nil, false),
        ] as [(String, String?, Bool)])
    func `Rules that hold become plain, and others are removed`(sheet: String, expected: String?, isUndecided: Bool) {
        let rules = SVGMediaRules(sheet)
        #expect(rules.resolved == expected && rules.hasUndecided == isUndecided, "\(rules.resolved ?? "nil")")
    }

    @Test(arguments: [
        ("<style>rect{fill:red}@media screen{rect{fill:#0f0}}</style>", []),
        ("<style>rect{fill:#0f0}@media print{rect{fill:red}}</style>", []),
        ("<style>:root{--c:#0f0}@media(prefers-color-scheme:dark){:root{--c:red}}rect{fill:var(--c)}</style>", []),
        ("<style>rect{fill:#0f0}</style><style media='print'>rect{fill:red}</style>", []),
        ("<style media='screen'>rect{fill:#0f0}</style>", []),
        ("<style>rect{fill:#0f0}@media (max-width:7px){rect{fill:red}}</style>", []),
        ("<style>rect{fill:red}@media (min-width:8px) and (height &lt;= .5em){rect{fill:#0f0}}</style>", []),
        ("<style media='(max-width:8px)'>rect{fill:#0f0}</style>", []),
        ("<style>rect{fill:#0f0}@media (hover){rect{fill:red}}</style>", ["css-rules"]),
        ("<style>rect{fill:red}@supports (display:grid) and (not (-moz-a:b)){rect{fill:#0f0}}</style>", []),
        ("<style>rect{fill:#0f0}@supports not (fill:oklch(0 0 0)){rect{fill:red}}</style>", []),
        ("<style><![CDATA[rect{fill:red}@media screen{svg>rect{fill:#0f0}}]]></style>", []),
    ])
    func `A drawing looks as on a light screen`(styles: String, gaps: [String]) throws {
        let drawing = ByteBuffer(
            string: "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"8\">\(styles)"
                + "<rect width=\"8\" height=\"8\"/></svg>")
        #expect(try SourceHeader(of: drawing).gaps.names == gaps)
        #expect(try Pixels(produce(drawing).body)[4, 4] == [0, 255, 0, 255])
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: ["@media ", "@media print{", "@media screen{", "@layer{", "/*", "'", "@", "{"])
    func `A hostile style sheet takes time in proportion to its length`(part: String) {
        let rules = SVGMediaRules(String(repeating: part, count: 200_000))
        #expect((rules.resolved ?? "").utf8.count <= part.utf8.count * 200_000)
    }

    @Test func `Conditions are decided up to a number of them in a document`() throws {
        let sheet = String(repeating: "@media screen{a{}}", count: 600)
        #expect(SVGMediaRules(sheet, limit: 600).hasUndecided == false)
        #expect(SVGMediaRules(sheet, limit: 599).hasUndecided)
        for (count, gaps) in [(1, []), (2, ["css-rules"])] as [(Int, [String])] {
            let sheets = String(repeating: "<style>\(sheet)</style>", count: count)
            let drawing = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"8\">\(sheets)</svg>"
            #expect(try SourceHeader(of: ByteBuffer(string: drawing)).gaps.names == gaps)
        }
    }
}
