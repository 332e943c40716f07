import CoreMetrics
import Synchronization

/// The current value of one metric with one set of labels.
protocol MetricSeries: AnyObject, Sendable {
    var value: MetricFamily.Value { get }
}

final class CounterSeries: MetricSeries, CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: MetricFamily.Value { .number(Double(count.load(ordering: .relaxed))) }

    /// Ignores negative amounts: a scraper takes a falling counter for a restart.
    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        count.wrappingAdd(amount, ordering: .relaxed)
    }

    func reset() { count.store(0, ordering: .relaxed) }
}

final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
    private let level = Mutex(0.0)

    var value: MetricFamily.Value { .number(level.withLock { $0 }) }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { level.withLock { $0 = value } }
    func increment(by amount: Double) { level.withLock { $0 += amount } }
    func decrement(by amount: Double) { level.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }
}

final class HistogramSeries: MetricSeries, TimerHandler, RecorderHandler {
    private let histogram: Mutex<Histogram>

    init(bounds: [Double]) {
        histogram = Mutex(Histogram(bounds: bounds))
    }

    var value: MetricFamily.Value { .histogram(histogram.withLock { $0 }) }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { histogram.withLock { $0.record(value) } }
}

/// Counts of values per bucket, and their sum.
struct Histogram: Hashable, Sendable {
    /// Upper bounds of the buckets, ascending. A last bucket without a bound follows.
    let bounds: [Double]
    private(set) var counts: [Int]
    private(set) var sum = 0.0

    init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Counts a value; a value equal to a bound belongs to that bucket. Values that are not finite are ignored, because
    /// they would make the sum useless.
    mutating func record(_ value: Double) {
        guard value.isFinite else { return }
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }

    /// For each bucket the number of values in it and all lower buckets; the last number is the total.
    var cumulativeCounts: [Int] {
        var total = 0
        return counts.map { count in
            total += count
            return total
        }
    }
}

/// The labels of a series, sorted by name, so that equal sets compare equal in any order.
struct SeriesLabels: Hashable, Sendable {
    struct Label: Hashable, Sendable {
        var name: String
        var value: String
    }

    let labels: [Label]
    /// In the order of the names.
    var values: [String] { labels.map(\.value) }

    /// Creates labels from names and values. Invalid characters in names are replaced by `_`; values may be any text.
    /// The first of several labels with the same name wins.
    init(_ dimensions: [(String, String)]) {
        var names: Set<String> = []
        labels = dimensions.map { Label(name: MetricNaming.label($0.0), value: $0.1) }
            .filter { names.insert($0.name).inserted }
            .sorted { $0.name < $1.name }
    }
}

extension SeriesLabels: Comparable {
    static func < (left: SeriesLabels, right: SeriesLabels) -> Bool {
        left.labels.lexicographicallyPrecedes(right.labels) { ($0.name, $0.value) < ($1.name, $1.value) }
    }
}

/// Names that the Prometheus data model allows.
enum MetricNaming {
    static func metric(_ name: String) -> String { sanitized(name, allowing: ":_") }

    /// `le` is reserved for histograms, a prefix of two underscores for Prometheus itself.
    static func label(_ name: String) -> String {
        let name = sanitized(name, allowing: "_")
        return name == "le" || name.hasPrefix("__") ? "label_" + name.drop { $0 == "_" } : name
    }

    private static func sanitized(_ name: String, allowing allowed: String) -> String {
        let clean = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) || allowed.contains($0) ? $0 : "_" })
        return clean.first.map { $0.isNumber } == false ? clean : "_" + clean
    }
}
