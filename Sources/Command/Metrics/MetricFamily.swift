/// One metric with all its series at the time of a scrape.
struct MetricFamily: Hashable, Sendable {
    /// Type of the metric in the Prometheus data model.
    enum Kind: String, Sendable {
        /// Only increases until the process exits.
        case counter
        case gauge
        case histogram
    }

    /// One set of labels and its value.
    struct Series: Hashable, Sendable {
        var labels: SeriesLabels
        var value: Value

        init(_ labels: SeriesLabels = SeriesLabels([]), _ value: Value) {
            self.labels = labels
            self.value = value
        }
    }

    enum Value: Hashable, Sendable {
        case number(Double)
        case histogram(Histogram)
    }

    /// Ends in the unit, or in `_total` for counters, by convention.
    var name: String
    var kind: Kind
    /// Help text, one sentence; empty for none.
    var help: String
    var series: [Series]

    /// Characters that a name may not have become `_`.
    init(_ name: String, _ kind: Kind, help: String, _ series: [Series]) {
        self.name = MetricNaming.metric(name)
        self.kind = kind
        self.help = help
        self.series = series
    }

    /// A metric without labels.
    init(_ name: String, _ kind: Kind, help: String, _ value: Double) {
        self.init(name, kind, help: help, [Series(.init([]), .number(value))])
    }
}

/// The Prometheus text format 0.0.4. Families are sorted by name and series by labels, so that equal states give equal
/// texts.
enum TextExposition {
    static func text(_ families: [MetricFamily]) -> String {
        families.filter { !$0.series.isEmpty }.sorted { $0.name < $1.name }.map(text).joined()
    }

    private static func text(_ family: MetricFamily) -> String {
        var text = family.help.isEmpty ? "" : "# HELP \(family.name) \(escaped(family.help))\n"
        text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
        for series in family.series.sorted(by: { $0.labels < $1.labels }) {
            switch series.value {
            case .number(let value): text += line(family.name, series.labels, value)
            case .histogram(let histogram): text += lines(family.name, series.labels, histogram)
            }
        }
        return text
    }

    private static func lines(_ name: String, _ labels: SeriesLabels, _ histogram: Histogram) -> String {
        let counts = histogram.cumulativeCounts
        var text = ""
        for (bound, count) in zip(histogram.bounds + [.infinity], counts) {
            text += line("\(name)_bucket", labels, Double(count), upTo: bound)
        }
        return text + line("\(name)_sum", labels, histogram.sum)
            + line("\(name)_count", labels, Double(counts.last ?? 0))
    }

    private static func line(
        _ name: String, _ labels: SeriesLabels, _ value: Double, upTo bound: Double? = nil
    ) -> String {
        var pairs = labels.labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
        if let bound { pairs.append("le=\"\(number(bound))\"") }
        let braces = pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
        return "\(name)\(braces) \(number(value))\n"
    }

    /// Escapes backslashes, line feeds and, in labels, quotation marks.
    private static func escaped(_ text: String, quotes: Bool = false) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += #"\\"#
            case "\n": escaped += #"\n"#
            case "\"" where quotes: escaped += #"\""#
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        // Integers up to the range in which a Double represents each of them exactly.
        return Int64(exactly: value).flatMap { abs(value) < 9e15 ? String($0) : nil } ?? "\(value)"
    }
}
