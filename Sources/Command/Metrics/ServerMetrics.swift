import DarkroomEdgePurging
import DarkroomHTTPServer
import DarkroomMetrics
import DarkroomOpenTelemetry
import DarkroomPipeline
import DarkroomWeb
import DarkroomWorkers

/// Metrics that are read at scrape time instead of being counted as they happen.
struct ServerMetrics: Sendable {
    let caches: Caches
    let pipeline: ImagePipeline
    let prefetcher: Prefetcher
    let serverState: ServerState
    /// Nil = there are no worker processes.
    let workers: WorkerImageProcessor?
    let edges: EdgePurger
    let log: LogWriter
    /// Nil = no spans are recorded.
    let traces: SpanExporter?
    let process: ProcessMetrics
    let accounts: KeyAccounts
    let inFlightBytes: @Sendable () -> Int

    /// - Parameter isReady: whether `/health/ready` would answer 200.
    func families(isReady: Bool) -> [MetricFamily] {
        serverFamilies(isReady: isReady) + traceFamilies + cacheFamilies + sharedFamilies + loadFamilies
            + prefetchFamilies + edgeFamilies + formatFamilies + keyFamilies
            + workerFamilies + process.families
    }

    private func serverFamilies(isReady: Bool) -> [MetricFamily] {
        [
            MetricFamily("darkroom_ready", .gauge, help: "1 while /health/ready answers 200, else 0.", isReady ? 1 : 0),
            MetricFamily(
                "darkroom_http_requests_in_flight", .gauge, help: "In-flight requests.",
                Double(serverState.inFlightRequests)),
            MetricFamily(
                "darkroom_log_lines_dropped_total", .counter,
                help: "Log lines that were not written because writing failed or fell behind.",
                Double(log.droppedCount)),
        ]
    }

    private var traceFamilies: [MetricFamily] {
        guard let counts = traces?.counts else { return [] }
        return [
            MetricFamily(
                "darkroom_trace_spans_exported_total", .counter, help: "Trace spans that the collector accepted.",
                Double(counts.exported)),
            MetricFamily(
                "darkroom_trace_spans_dropped_total", .counter,
                help: "Trace spans that were dropped because the collector refused them or fell behind.",
                Double(counts.dropped)),
        ]
    }

    // MARK: Processing

    private var loadFamilies: [MetricFamily] {
        let load = pipeline.load
        let refusals = load.refusals.map { refusal in
            (labels: SeriesLabels([("reason", refusal.reason)]), count: Double(refusal.count), waited: refusal.waited)
        }
        return gauges([
            ("darkroom_pixel_queue_waiting", "Images waiting for a pixel worker.", load.waitingCount),
            ("darkroom_pixel_memory_waiting_bytes", "Estimated memory of waiting images.", load.waitingBytes),
            ("darkroom_pixel_memory_bytes", "Estimated memory of images in processing.", load.runningBytes),
            ("darkroom_pixel_memory_budget_bytes", "Memory budget of images in processing.", load.budgetBytes),
            (
                "darkroom_downloads_in_flight_bytes", "Bytes of sources being downloaded, uploaded or processed.",
                inFlightBytes()
            ),
        ]) + [
            MetricFamily(
                "darkroom_pixel_refusals_total", .counter,
                help: "Images refused under overload, by reason: full, displaced, too_late or expired.",
                refusals.map { .init($0.labels, .number($0.count)) }),
            MetricFamily(
                "darkroom_pixel_refusal_wait_seconds_total", .counter,
                help: "Time that refused images had waited for a pixel worker, by reason.",
                refusals.map { .init($0.labels, .number($0.waited / .seconds(1))) }),
        ]
    }

    private var prefetchFamilies: [MetricFamily] {
        let counts = prefetcher.itemCounts
        return gauges([("darkroom_prefetch_jobs_running", "Running prefetch jobs.", prefetcher.runningCount)]) + [
            MetricFamily(
                "darkroom_prefetch_images_total", .counter,
                help: "Images of prefetch jobs, by result: ready (processed or cached) or failed.",
                [("ready", counts.done), ("failed", counts.failed)].map { result, count in
                    MetricFamily.Series(SeriesLabels([("result", result)]), .number(Double(count)))
                })
        ]
    }

    private var workerFamilies: [MetricFamily] {
        guard let statistics = workers?.statistics else { return [] }
        let ends = WorkerStatistics.EndReason.allCases.map { end in
            MetricFamily.Series(
                SeriesLabels([("reason", end.rawValue)]), .number(Double(statistics.ended[end] ?? 0)))
        }
        let counters: [(name: String, help: String, value: Double)] = [
            ("darkroom_worker_starts_total", "Worker processes started.", Double(statistics.started)),
            (
                "darkroom_worker_failed_starts_total", "Worker processes that failed to start.",
                Double(statistics.failedStarts)
            ),
            (
                "darkroom_worker_cpu_seconds_total", "CPU time of all worker processes, exited ones included.",
                statistics.processorSeconds
            ),
            (
                "darkroom_quarantine_refusals_total", "Images refused because of the quarantine.",
                Double(statistics.refused)
            ),
        ]
        return gauges([
            ("darkroom_workers", "Worker processes that are ready or busy.", statistics.ready),
            ("darkroom_workers_desired", "Target number of worker processes.", statistics.configured),
            (
                "darkroom_worker_resident_memory_bytes", "Resident memory of all worker processes.",
                statistics.residentBytes
            ),
            ("darkroom_quarantined", "Sources and jobs in quarantine.", statistics.quarantined),
        ])
            + counters.map { MetricFamily($0.name, .counter, help: $0.help, $0.value) }
            + [MetricFamily("darkroom_worker_ends_total", .counter, help: "Worker processes ended, by reason.", ends)]
    }

    private func gauges(_ readings: [(name: String, help: String, value: Int)]) -> [MetricFamily] {
        readings.map { MetricFamily($0.name, .gauge, help: $0.help, Double($0.value)) }
    }

    // MARK: Caches

    private var cacheFamilies: [MetricFamily] {
        let tiers = caches.tiers.named
        return Self.cacheMetrics.map { metric in
            let series = tiers.compactMap { name, tier in
                metric.value(tier).map {
                    MetricFamily.Series(SeriesLabels([("tier", name)]), .number(Double($0)))
                }
            }
            return MetricFamily(metric.name, metric.kind, help: metric.help, series)
        }
    }

    /// A metric of each cache tier that counts it.
    private struct CacheMetric: Sendable {
        let name: String
        let kind: MetricFamily.Kind
        let help: String
        let value: @Sendable (CacheTier) -> Int?

        init(
            _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: @escaping @Sendable (CacheTier) -> Int?
        ) {
            self.name = name
            self.kind = kind
            self.help = help
            self.value = value
        }
    }

    private static let cacheMetrics = [
        CacheMetric("darkroom_cache_entries", .gauge, "Cache entries, by tier.") { $0.entries },
        CacheMetric("darkroom_cache_bytes", .gauge, "Bytes of cache entries, by tier.") { $0.bytes },
        CacheMetric("darkroom_cache_budget_bytes", .gauge, "Byte budget, by tier.") { $0.budgetBytes },
        CacheMetric("darkroom_cache_hits_total", .counter, "Cache hits, by tier.") { $0.hits },
        CacheMetric("darkroom_cache_misses_total", .counter, "Cache misses, by tier.") { $0.misses },
        CacheMetric("darkroom_cache_evictions_total", .counter, "Entries evicted to stay within the budget, by tier.") {
            $0.evictions
        },
        CacheMetric("darkroom_cache_damaged_total", .counter, "Corrupt entries found and removed, by tier.") {
            $0.damaged
        },
        CacheMetric("darkroom_cache_dropped_writes_total", .counter, "Entries dropped before being written, by tier.") {
            $0.droppedWrites
        },
        CacheMetric("darkroom_cache_queued_writes", .gauge, "Entries waiting to be written, by tier.") {
            $0.queuedWrites
        },
        CacheMetric("darkroom_cache_queued_bytes", .gauge, "Bytes of entries waiting to be written, by tier.") {
            $0.queuedBytes
        },
    ]
}
