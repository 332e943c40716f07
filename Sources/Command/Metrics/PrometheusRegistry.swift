import CoreMetrics
import Synchronization

/// A swift-metrics backend that Prometheus can scrape.
///
/// The label of a swift-metrics metric is its Prometheus name, its dimensions are Prometheus labels. The same name and
/// labels always give the same series. A series stays until the process exits, because scrapers interpret a series that
/// disappears as a restart. Safe to use from any thread.
final class PrometheusRegistry: MetricsFactory {
    /// Default histogram bounds in seconds: 0.1 ms, which most hits in memory stay below, to 30 s.
    static let defaultBuckets = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]

    private struct Family {
        let kind: MetricFamily.Kind
        var series: [SeriesLabels: any MetricSeries] = [:]
    }

    private struct State {
        var families: [String: Family] = [:]
        var refused = 0
    }

    private let help: [String: String]
    private let bounds: [Double]
    private let maxSeries: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - help: help texts by metric name.
    ///   - buckets: ascending upper bounds of all histograms: seconds for timers, plain values for recorders.
    ///   - maxSeries: maximum number of series over all metrics. Further series are not exposed;
    ///     `darkroom_metrics_refused_series_total` counts them.
    init(
        help: [String: String] = [:], buckets: [Double] = PrometheusRegistry.defaultBuckets, maxSeries: Int = 2_000
    ) {
        self.help = Dictionary(help.map { (MetricNaming.metric($0), $1) }) { first, _ in first }
        bounds = buckets
        self.maxSeries = maxSeries
    }

    /// All metrics in the Prometheus text format 0.0.4, with metrics that are read from other sources at scrape time.
    func exposition(with others: [MetricFamily] = []) -> String {
        TextExposition.text(families + others)
    }

    private var families: [MetricFamily] {
        let (families, refused) = state.withLock { ($0.families, $0.refused) }
        let counted = families.map { name, family in
            MetricFamily(
                name, family.kind, help: help[name] ?? "", family.series.map { .init($0, $1.value) })
        }
        return counted + [
            MetricFamily(
                "darkroom_metrics_refused_series_total", .counter,
                help: "Requests for series that are not exposed because the series limit is reached.", Double(refused))
        ]
    }

    /// The series of that name and labels. Returns an unexposed series if the limit is reached or the name has another
    /// kind.
    private func series<Series: MetricSeries>(
        _ name: String, _ dimensions: [(String, String)], _ kind: MetricFamily.Kind, _ make: () -> Series
    ) -> Series {
        let (name, labels) = (MetricNaming.metric(name), SeriesLabels(dimensions))
        return state.withLock { state in
            var family = state.families[name] ?? Family(kind: kind)
            if family.kind == kind, let known = family.series[labels] as? Series { return known }
            let made = make()
            let count = state.families.values.reduce(0) { $0 + $1.series.count }
            guard family.kind == kind, family.series[labels] == nil, count < maxSeries else {
                state.refused += 1
                return made
            }
            family.series[labels] = made
            state.families[name] = family
            return made
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter) { CounterSeries() }
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge) { GaugeSeries() }
    }

    /// - Parameter aggregate: true for a histogram of all values, false for the last value only.
    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        if aggregate { return series(label, dimensions, .histogram) { HistogramSeries(bounds: bounds) } }
        return series(label, dimensions, .gauge) { GaugeSeries() }
    }

    /// Creates a histogram in seconds.
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .histogram) { HistogramSeries(bounds: bounds) }
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
