/// One metric with all its series, as a scrape finds it.
package struct MetricFamily: Hashable, Sendable {
    /// What the values mean, and so what may be computed from them.
    package enum Kind: String, Sendable {
        /// It only rises, until the process ends.
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

    /// By convention with the unit as its ending, and `_total` where it counts.
    package var name: String
    package var kind: Kind
    /// One sentence for people; empty = none.
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
