import DarkroomMetrics
import DarkroomStore

extension ServerMetrics {
    /// Readings of the shared tier; none without one.
    var sharedFamilies: [MetricFamily] {
        guard let statistics = caches.shared?.statistics else { return [] }
        let results = [
            ("hit", statistics.hits), ("miss", statistics.misses), ("failure", statistics.failures),
            ("skipped", statistics.skipped),
        ]
        let activities = [("reading", statistics.isReadable), ("writing", statistics.isWritable)]
        let counters = [
            (
                "damaged", "Objects in the shared store that were corrupt, foreign or incomplete.", statistics.damaged
            ),
            ("writes", "Objects written to the shared store.", statistics.writes),
            (
                "dropped_writes",
                "Writes to the shared store that were dropped: the queue was full, or the store failed.",
                statistics.droppedWrites
            ),
        ]
        return [
            MetricFamily(
                "darkroom_shared_store_lookups_total", .counter,
                help: "Lookups in the shared store, by result: hit, miss, failure (an error, or no answer in time) or "
                    + "skipped (because the store was failing).",
                results.map { MetricFamily.Series(SeriesLabels([("result", $0)]), .number(Double($1))) }),
            MetricFamily(
                "darkroom_shared_store_up", .gauge,
                help: "1 while the shared store works, else 0, by activity: reading or writing.",
                activities.map { MetricFamily.Series(SeriesLabels([("activity", $0)]), .number($1 ? 1 : 0)) }),
            MetricFamily(
                "darkroom_shared_store_queued_writes", .gauge, help: "Writes waiting for the shared store.",
                Double(statistics.queuedWrites)),
            MetricFamily(
                "darkroom_shared_store_queued_bytes", .gauge, help: "Bytes waiting to be written to the shared store.",
                Double(statistics.queuedBytes)),
        ]
            + counters.map { name, help, count in
                MetricFamily("darkroom_shared_store_\(name)_total", .counter, help: help, Double(count))
            }
    }
}
