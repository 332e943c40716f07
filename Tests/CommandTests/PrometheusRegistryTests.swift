import CoreMetrics
import Testing

@testable import DarkroomCommand

struct PrometheusRegistryTests {
    /// The lines of one metric, without help and kind.
    private func lines(_ registry: PrometheusRegistry, _ name: String) -> [String] {
        registry.exposition().split(separator: "\n").map(String.init).filter { $0.hasPrefix(name) }
    }

    @Test func `A counter rises and never falls`() {
        let registry = PrometheusRegistry(help: ["c_total": "Events."])
        let counter = Counter(label: "c_total", dimensions: [("a", "1")], factory: registry)
        counter.increment(by: 2)
        counter.increment()
        counter.increment(by: -5)
        #expect(lines(registry, "c_total") == [#"c_total{a="1"} 3"#])
        #expect(registry.exposition().contains("# HELP c_total Events.\n# TYPE c_total counter\n"))
    }

    @Test func `A counter is there at zero before anything happened`() {
        let registry = PrometheusRegistry()
        _ = Counter(label: "c_total", factory: registry)
        #expect(lines(registry, "c_total") == ["c_total 0"])
    }

    @Test func `A gauge goes where it is set, up and down`() {
        let registry = PrometheusRegistry()
        let meter = Meter(label: "m", factory: registry)
        meter.set(10)
        meter.increment(by: 2.5)
        meter.decrement(by: 4)
        Gauge(label: "g", factory: registry).record(7)
        #expect(lines(registry, "m ") == ["m 8.5"])
        #expect(lines(registry, "g ") == ["g 7"])
    }

    @Test func `A timer is a histogram in seconds, whatever unit it is told`() {
        let registry = PrometheusRegistry(buckets: [0.001, 0.1])
        let timer = CoreMetrics.Timer(label: "t_seconds", factory: registry)
        timer.recordMilliseconds(50)
        timer.recordNanoseconds(1_000_000)
        timer.recordSeconds(2)
        #expect(
            lines(registry, "t_seconds") == [
                #"t_seconds_bucket{le="0.001"} 1"#, #"t_seconds_bucket{le="0.1"} 2"#,
                #"t_seconds_bucket{le="+Inf"} 3"#, "t_seconds_sum 2.051", "t_seconds_count 3",
            ])
        #expect(registry.exposition().contains("# TYPE t_seconds histogram\n"))
    }

    @Test func `What is no finite number does not spoil a histogram`() {
        let registry = PrometheusRegistry(buckets: [1])
        let recorder = Recorder(label: "r", factory: registry)
        recorder.record(Double.nan)
        recorder.record(Double.infinity)
        recorder.record(4)
        #expect(lines(registry, "r_sum") == ["r_sum 4"])
        #expect(lines(registry, "r_count") == ["r_count 1"])
    }

    @Test(arguments: [0.00005, 0.0001, 0.02, 29, 30, 31])
    func `The default buckets separate a tenth of a millisecond from half a minute`(seconds: Double) {
        var histogram = Histogram(bounds: PrometheusRegistry.defaultBuckets)
        histogram.record(seconds)
        let bounds = PrometheusRegistry.defaultBuckets + [.infinity]
        #expect(bounds == bounds.sorted())
        let index = histogram.counts.firstIndex(of: 1) ?? 0
        #expect(seconds <= bounds[index])
        #expect(index == 0 || seconds > bounds[index - 1])
    }

    @Test func `The same name and labels are the same series, in any order`() {
        let registry = PrometheusRegistry()
        Counter(label: "c", dimensions: [("a", "1"), ("b", "2")], factory: registry).increment()
        Counter(label: "c", dimensions: [("b", "2"), ("a", "1")], factory: registry).increment()
        #expect(lines(registry, "c{") == [#"c{a="1",b="2"} 2"#])
    }

    @Test func `A series outlives the object that counted in it`() {
        let registry = PrometheusRegistry()
        let counter = Counter(label: "c", factory: registry)
        counter.increment()
        counter.destroy()
        #expect(lines(registry, "c ") == ["c 1"])
    }

    @Test func `A name has one kind, and what would be another is not shown`() {
        let registry = PrometheusRegistry()
        Counter(label: "x", factory: registry).increment()
        Meter(label: "x", factory: registry).set(9)
        Meter(label: "x", dimensions: [("a", "b")], factory: registry).set(9)
        #expect(lines(registry, "x") == ["x 1"])
        #expect(lines(registry, "darkroom_metrics_refused") == ["darkroom_metrics_refused_series_total 2"])
    }

    @Test func `There are never more series than allowed, and known series go on counting`() {
        let registry = PrometheusRegistry(maxSeries: 3)
        for number in 0..<10 {
            Counter(label: "c", dimensions: [("n", "\(number)")], factory: registry).increment()
        }
        Counter(label: "c", dimensions: [("n", "1")], factory: registry).increment()
        #expect(lines(registry, "c{") == [#"c{n="0"} 1"#, #"c{n="1"} 2"#, #"c{n="2"} 1"#])
        #expect(lines(registry, "darkroom_metrics_refused") == ["darkroom_metrics_refused_series_total 7"])
    }

    @Test func `What others read just now stands between what was counted`() {
        let registry = PrometheusRegistry()
        Counter(label: "b_total", factory: registry).increment()
        let text = registry.exposition(with: [MetricFamily("a_bytes", .gauge, help: "Bytes.", 5)])
        #expect(
            text.hasPrefix(
                "# HELP a_bytes Bytes.\n# TYPE a_bytes gauge\na_bytes 5\n# TYPE b_total counter\nb_total 1\n"))
    }

    @Test func `Nothing is lost when many count at once, and a scrape in between is whole`() async {
        let registry = PrometheusRegistry(buckets: [1])
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for _ in 0..<1_000 {
                        Counter(label: "c", dimensions: [("n", "\(task % 2)")], factory: registry).increment()
                        CoreMetrics.Timer(label: "t", factory: registry).recordSeconds(1)
                        Meter(label: "m", factory: registry).increment()
                    }
                }
            }
            group.addTask {
                for _ in 0..<50 {
                    let text = registry.exposition().split(separator: "\n")
                    let count = text.first { $0.hasPrefix("t_count") }?.split(separator: " ").last
                    let sum = text.first { $0.hasPrefix("t_sum") }?.split(separator: " ").last
                    #expect(count == sum)
                }
            }
        }
        #expect(lines(registry, "c{") == [#"c{n="0"} 4000"#, #"c{n="1"} 4000"#])
        #expect(lines(registry, "t_count") == ["t_count 8000"])
        #expect(lines(registry, "m ") == ["m 8000"])
    }
}
