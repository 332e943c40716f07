import DarkroomEdgePurging
import DarkroomHTTPServer
import DarkroomMetrics
import DarkroomOpenTelemetry
import DarkroomPipeline
import DarkroomStore
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

extension ServerMetrics {
    /// The work of answering in two steps.
    var formatFamilies: [MetricFamily] {
        let upgrades = pipeline.formatUpgrades
        return [
            MetricFamily(
                "darkroom_interim_answers_total", .counter,
                help: "Images answered in a faster format because the preferred format was not ready.",
                Double(upgrades.interimAnswers)),
            MetricFamily(
                "darkroom_format_upgrades_total", .counter,
                help:
                    "Images made in the preferred format after a response in a faster format, by result: made, dropped "
                    + "(under load, or after a purge) or failed.",
                upgrades.outcomes.map { .init(SeriesLabels([("result", $0.result)]), .number(Double($0.count))) }),
            MetricFamily(
                "darkroom_format_upgrades_waiting", .gauge,
                help: "Images waiting to be made in the preferred format.",
                Double(upgrades.waiting)),
            MetricFamily(
                "darkroom_format_upgrades_running", .gauge, help: "Images being made in the preferred format.",
                Double(upgrades.running)),
        ]
    }
}

extension ServerMetrics {
    /// What signing keys have used; none without keys. The number of series is bounded by the number of keys.
    var keyFamilies: [MetricFamily] {
        let keys = accounts.usage
        guard !keys.isEmpty else { return [] }
        let quotas = keys.flatMap { key in
            key.quotas.map { quota in
                (labels: Self.labels(key, quota: quota.kind.rawValue), ratio: quota.ratio, refusals: quota.refusals)
            }
        }
        let shares = keys.compactMap { key in
            key.cacheRatio.map { MetricFamily.Series(Self.labels(key, quota: "cache"), .number($0)) }
        }
        return [
            MetricFamily(
                "darkroom_key_processor_seconds_total", .counter,
                help: "Time on pixel workers for requests of a signing key.",
                keys.map { .init(Self.labels($0), .number($0.processorSeconds)) }),
            MetricFamily(
                "darkroom_key_egress_bytes_total", .counter,
                help: "Bytes of response bodies to requests of a signing key.",
                keys.map { .init(Self.labels($0), .number($0.egressBytes)) }),
            MetricFamily(
                "darkroom_key_cache_bytes", .gauge, help: "Bytes of cache entries that count for a signing key.",
                keys.compactMap { key in key.cacheBytes.map { .init(Self.labels(key), .number(Double($0))) } }),
            MetricFamily(
                "darkroom_key_quota_used_ratio", .gauge,
                help: "Used part of a signing key's quota: cache, processor or egress. Above 1, requests are refused.",
                quotas.map { .init($0.labels, .number($0.ratio)) } + shares),
            MetricFamily(
                "darkroom_key_quota_refusals_total", .counter,
                help: "Requests refused because a signing key had used up a quota: processor or egress.",
                quotas.map { .init($0.labels, .number(Double($0.refusals))) }),
        ]
    }

    private static func labels(_ key: KeyUsage, quota: String? = nil) -> SeriesLabels {
        SeriesLabels([("key", key.id)] + (quota.map { [("quota", $0)] } ?? []))
    }
}

extension ServerMetrics {
    /// Readings of the shared tier; empty without a shared tier.
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
