import DarkroomRequests
import Testing

@testable import DarkroomQuery

struct TextBoxParametersTests {
    private let table = ParameterTable(TextBoxParameters.rows, initial: TextBox("a"))

    private func box(_ query: String) throws -> TextBox {
        try TextBoxParameters.finished(table.read(QueryString(parsing: query)), named: "text.a")
    }

    private func text(_ box: TextBox) -> String {
        TextBoxParameters.rows.compactMap { row in
            row.text(box).flatMap { $0 == row.text(TextBox("a")) ? nil : "\(row.name)=\($0)" }
        }.joined(separator: "&")
    }

    static let values: [(name: String, good: [String], bad: [String])] = [
        ("w", ["1", "9999", "0.01p", "100p", "50%25"], ["0", "-1", "10000", "0p", "100.01p", "x", ""]),
        ("h", ["1", "9999", "0.01p", "100p", "50%25"], ["0", "-1", "10000", "0p", "100.01p", "x", ""]),
        ("size", ["6", "999"], ["5", "1000", "1.5", "10p", ""]),
        ("fit", ["true", "1", "false", "", "0"], ["yes", "2"]),
        ("lines", ["1", "50"], ["0", "51", "-1", ""]),
        ("align", ["start", "left", "center", "right", "justify", "Center"], ["end", "middle", ""]),
        ("valign", ["top", "middle", "bottom"], ["center", ""]),
        ("lh", ["0.5", "1", "1.25", "3"], ["0.49", "3.1", "-1", ""]),
        ("font", ["sans", "DejaVu%20Sans", "URW_9.x-y", "9"], ["", "%20a", "a,b", "a%0Ab", "caf%C3%A9", "a%3Cb"]),
        ("weight", ["100", "700", "900"], ["99", "901", "bold", ""]),
        ("italic", ["true", "", "false"], ["yes"]),
        ("color", ["red", "ff880080", "%23fff"], ["", "reddish"]),
        ("bg", ["red", "ff880080"], ["", "blur"]),
        ("pad", ["0", "1", "1,2", "1,2,3,9999"], ["", "-1", "1,2,3,4,5", "10000", "1p"]),
        (
            "shadow", ["0,2,8", "-200,200,200,red", "1,2,3,00000080"],
            ["", "1,2", "1,2,-1", "201,0,0", "1,2,3,x", "1,2,3,"]
        ),
    ]

    @Test(arguments: values.map(\.name)) func `A value in its range is accepted, and others are not`(name: String)
        throws
    {
        let row = try #require(Self.values.first { $0.name == name })
        for value in row.good { #expect(throws: Never.self, "\(name)=\(value)") { try box("\(name)=\(value)") } }
        for value in row.bad {
            let error = #expect(throws: InvalidParameter.self, "\(name)=\(value)") { try box("\(name)=\(value)") }
            #expect(error?.parameter == name)
        }
    }

    @Test func `Every parameter has values in the table or rules of its own`() {
        let rules: Set = ["min", "radius"]
        #expect(Set(TextBoxParameters.rows.map(\.name)) == Set(Self.values.map(\.name)).union(rules))
    }

    @Test(arguments: [
        ("w=600&h=50p&size=48&fit&min=20&lines=2", "w=600&h=50p&size=48&fit=true&min=20&lines=2"),
        ("h=9&align=Center&valign=middle&lh=1.10", "h=9&align=center&valign=middle&lh=1.1"),
        ("font=DejaVu%20Serif&weight=700&italic", "font=DejaVu Serif&weight=700&italic=true"),
        (
            "color=000&bg=FFF&pad=8,8,8,8&radius=4,4&shadow=0,2,8,000000",
            "color=000000ff&bg=ffffffff&pad=8&radius=4&shadow=0,2,8,000000ff"
        ),
        ("w=1&size=40&align=start&lh=1.2&font=sans&weight=400&fit=false&color=white&pad=0", "w=1&size=40"),
        ("bg=transparent&radius=3", ""), ("valign=middle", ""), ("shadow=1,2,3,00000080", "shadow=1,2,3"),
    ])
    func `Equal boxes have one spelling, without defaults`(query: String, expected: String) throws {
        let box = try box(query)
        #expect(text(box) == expected)
        #expect(try self.box(expected.replacing(" ", with: "%20")) == box)
    }

    @Test(arguments: [
        ("min=20", "text.a.min", "Parameter 'text.a.min' requires 'text.a.fit'."),
        (
            "fit&min=20&size=19", "text.a.min",
            "Parameter 'text.a.min' must not exceed 'text.a.size' of 19 pixels, got 20."
        ),
        ("radius=9", "text.a.radius", "Parameter 'text.a.radius' requires 'text.a.bg'."),
    ])
    func `A parameter without the one that it needs is refused`(query: String, name: String, detail: String) {
        #expect(throws: InvalidParameter(name, detail)) { try box(query) }
    }

    @Test func `A text has up to 500 characters, without controls but line feeds`() {
        for text in ["a", "a\nb", "<b>", "👩‍👩‍👧", String(repeating: "é", count: 500)] {
            #expect(TextBoxParameters.text.read(text) == text)
        }
        for text in ["", "a\rb", "a\0b", "\u{2028}", "a" + String(repeating: "\u{301}", count: 500)] {
            #expect(TextBoxParameters.text.read(text) == nil)
        }
    }
}
