import CoreMetrics
import Synchronization

/// What one set of labels has counted so far.
protocol MetricSeries: AnyObject, Sendable {
    var value: MetricFamily.Value { get }
}

final class CounterSeries: MetricSeries, CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: MetricFamily.Value { .number(Double(count.load(ordering: .relaxed))) }

    /// A counter never falls: scrapers would take that for a restart.
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
