import Testing

@testable import DarkroomCommand

struct TextExpositionTests {
    private func family(
        _ series: [MetricFamily.Series], kind: MetricFamily.Kind = .gauge, help: String = ""
    ) -> MetricFamily {
        MetricFamily("m", kind, help: help, series)
    }

    @Test func `A family is its help, its kind and a line for each series, by name and labels`() {
        let families = [
            MetricFamily("b_total", .counter, help: "Things.", 3),
            MetricFamily(
                "a_bytes", .gauge, help: "",
                [
                    .init(SeriesLabels([("tier", "memory"), ("kind", "x")]), .number(2)),
                    .init(SeriesLabels([("kind", "x"), ("tier", "disk")]), .number(0.25)),
                ]),
        ]
        #expect(
            TextExposition.text(families) == """
                # TYPE a_bytes gauge
                a_bytes{kind="x",tier="disk"} 0.25
                a_bytes{kind="x",tier="memory"} 2
                # HELP b_total Things.
                # TYPE b_total counter
                b_total 3

                """)
    }

    @Test func `A family without series is not there`() {
        #expect(TextExposition.text([family([], help: "Nothing.")]) == "")
        #expect(TextExposition.text([]) == "")
    }

    @Test(arguments: [
        ("plain", #"m{l="plain"} 1"#), ("", #"m{l=""} 1"#), (#"a"b"#, #"m{l="a\"b"} 1"#), (#"a\b"#, #"m{l="a\\b"} 1"#),
        ("a\nb", #"m{l="a\nb"} 1"#), ("a\r\nb", "m{l=\"a\r\\nb\"} 1"), (#"\n"#, #"m{l="\\n"} 1"#),
        ("e\u{301}\"", "m{l=\"e\u{301}\\\"\"} 1"), ("\"} 9\nm 8", #"m{l="\"} 9\nm 8"} 1"#),
    ])
    func `A label's value stays within its quotes and its line`(value: String, line: String) {
        let text = TextExposition.text([family([.init(SeriesLabels([("l", value)]), .number(1))])])
        #expect(text == "# TYPE m gauge\n\(line)\n")
    }

    @Test func `Help stays on its line`() {
        let text = TextExposition.text([family([.init(.init([]), .number(0))], help: "A \"b\" \\ c\nm 1")])
        #expect(text == "# HELP m A \"b\" \\\\ c\\nm 1\n# TYPE m gauge\nm 0\n")
    }

    @Test(arguments: [
        (0.0, "0"), (-0.0, "0"), (3, "3"), (-7, "-7"), (0.1, "0.1"), (1_795_000_000.5, "1795000000.5"),
        (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (1e300, "1e+300"),
        (9_007_199_254_740_992, "9007199254740992.0"),
        (53_687_091_200, "53687091200"), (0.0005, "0.0005"),
    ])
    func `A number is written as Prometheus reads it`(value: Double, text: String) {
        #expect(TextExposition.number(value) == text)
        if !value.isNaN, value.isFinite { #expect(Double(text) == value) }
    }

    @Test func `A histogram is its cumulative buckets, its sum and its count`() {
        var histogram = Histogram(bounds: [0.1, 1])
        for value in [0.05, 0.1, 0.5, 7] { histogram.record(value) }
        let text = TextExposition.text([
            family([.init(SeriesLabels([("stage", "fetch")]), .histogram(histogram))], kind: .histogram)
        ])
        #expect(
            text == """
                # TYPE m histogram
                m_bucket{stage="fetch",le="0.1"} 2
                m_bucket{stage="fetch",le="1"} 3
                m_bucket{stage="fetch",le="+Inf"} 4
                m_sum{stage="fetch"} 7.65
                m_count{stage="fetch"} 4

                """)
    }

    @Test(arguments: [
        ("darkroom_a_total", "darkroom_a_total"), ("http.server.requests", "http_server_requests"), ("a:b", "a:b"),
        ("9lives", "_9lives"), ("", "_"), ("été", "_t_"), ("a b\n", "a_b_"), ("٣", "_"),
    ])
    func `A metric's name has only characters that it may have`(given: String, name: String) {
        #expect(MetricFamily(given, .gauge, help: "", 1).name == name)
    }

    @Test(arguments: [
        ("route", "route"), ("a:b", "a_b"), ("le", "label_le"), ("__name__", "label_name__"), ("7", "_7"), ("", "_"),
    ])
    func `A label's name has only characters that it may have, and is none that Prometheus uses`(
        given: String, name: String
    ) {
        #expect(SeriesLabels([(given, "x")]).labels.map(\.name) == [name])
    }

    @Test func `Of two labels with one name the first counts`() {
        #expect(SeriesLabels([("a.b", "1"), ("a_b", "2")]) == SeriesLabels([("a_b", "1")]))
    }
}
