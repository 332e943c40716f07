import DarkroomEdgePurging
import DarkroomMetrics

extension ServerMetrics {
    /// Readings of purges of the caches in front; none without the setting `purge-to`.
    var edgeFamilies: [MetricFamily] {
        let edges = edges.statistics
        guard !edges.isEmpty else { return [] }
        let results: [(name: String, count: KeyPath<EdgeStatistics, Int>)] = [
            ("told", \.told), ("postponed", \.postponed), ("refused", \.refused),
        ]
        let requests = edges.flatMap { edge in
            results.map { name, count in
                MetricFamily.Series(
                    SeriesLabels([("edge", edge.edge), ("result", name)]), .number(Double(edge[keyPath: count])))
            }
        }
        return [
            MetricFamily(
                "darkroom_edge_purge_requests_total", .counter,
                help: "Requests to purge caches in front, by cache and result: told (confirmed), postponed (the cache "
                    + "is busy or does not answer; repeated later) or refused.", requests),
            family("darkroom_edge_purges_pending", .gauge, "Requests to purge that the cache has not confirmed.") {
                Double($0.pending)
            },
            family(
                "darkroom_edge_purge_overdue_seconds", .gauge,
                "How long the oldest purge that is due waits for the cache to confirm it; 0 without one."
            ) {
                $0.overdueSeconds
            },
            family(
                "darkroom_edge_purges_collapsed_total", .counter,
                "Times that too many purges waited, so that one purge of everything took their place, by cache."
            ) {
                Double($0.collapsed)
            },
            MetricFamily(
                "darkroom_edge_queue_write_failures_total", .counter,
                help: "Times that the queue of purges could not be written to disk.",
                Double(self.edges.fileFailures)),
        ]
    }

    private func family(
        _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: (EdgeStatistics) -> Double
    ) -> MetricFamily {
        MetricFamily(
            name, kind, help: help,
            edges.statistics.map {
                MetricFamily.Series(SeriesLabels([("edge", $0.edge)]), .number(value($0)))
            })
    }
}
