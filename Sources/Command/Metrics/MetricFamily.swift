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
