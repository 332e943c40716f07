/// One metric with all its series at the time of a scrape.
package struct MetricFamily: Hashable, Sendable {
    /// Type of the metric in the Prometheus data model.
    package enum Kind: String, Sendable {
        /// Only increases until the process exits.
        case counter
        case gauge
        case histogram
    }

    /// One set of labels and its value.
    package struct Series: Hashable, Sendable {
        package var labels: SeriesLabels
        package var value: Value

        package init(_ labels: SeriesLabels = SeriesLabels([]), _ value: Value) {
            self.labels = labels
            self.value = value
        }
    }

    package enum Value: Hashable, Sendable {
        case number(Double)
        case histogram(Histogram)
    }

    /// Ends in the unit, or in `_total` for counters, by convention.
    package var name: String
    package var kind: Kind
    /// Help text, one sentence; empty for none.
    package var help: String
    package var series: [Series]

    /// Characters that a name may not have become `_`.
    package init(_ name: String, _ kind: Kind, help: String, _ series: [Series]) {
        self.name = MetricNaming.metric(name)
        self.kind = kind
        self.help = help
        self.series = series
    }

    /// A metric without labels.
    package init(_ name: String, _ kind: Kind, help: String, _ value: Double) {
        self.init(name, kind, help: help, [Series(.init([]), .number(value))])
    }
}
