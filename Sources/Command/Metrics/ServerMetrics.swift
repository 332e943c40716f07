import DarkroomEdgePurging
import DarkroomHTTPServer
import DarkroomLoading
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
            .gauge("darkroom_ready", "1 while /health/ready answers 200, else 0.", isReady ? 1 : 0),
            .gauge("darkroom_http_requests_in_flight", "In-flight requests.", serverState.inFlightRequests),
            .gauge(
                "darkroom_http_unsent_bytes", "Bytes of responses that wait in memory for slow clients.",
                serverState.unsent.bytes),
            .counter(
                "darkroom_log_lines_dropped_total",
                "Log lines that were not written because writing failed or fell behind.", log.droppedCount),
        ]
    }

    private var traceFamilies: [MetricFamily] {
        guard let counts = traces?.counts else { return [] }
        return [
            .counter(
                "darkroom_trace_spans_exported_total", "Trace spans that the collector accepted.", counts.exported),
            .counter(
                "darkroom_trace_spans_dropped_total",
                "Trace spans that were dropped because the collector refused them or fell behind.", counts.dropped),
        ]
    }

    // MARK: Processing

    private var loadFamilies: [MetricFamily] {
        let load = pipeline.load
        return [
            .gauge("darkroom_pixel_queue_waiting", "Images waiting for a pixel worker.", load.waitingCount),
            .gauge("darkroom_pixel_memory_waiting_bytes", "Estimated memory of waiting images.", load.waitingBytes),
            .gauge("darkroom_pixel_memory_bytes", "Estimated memory of images in processing.", load.runningBytes),
            .gauge("darkroom_pixel_memory_budget_bytes", "Memory budget of images in processing.", load.budgetBytes),
            .gauge(
                "darkroom_downloads_in_flight_bytes", "Bytes of sources being downloaded, uploaded or processed.",
                inFlightBytes()),
            MetricFamily(
                "darkroom_pixel_refusals_total", .counter,
                "Images refused under overload, by reason: full, displaced, too_late or expired.", by: "reason",
                load.refusals.map { ($0.reason, Double($0.count)) }),
            MetricFamily(
                "darkroom_pixel_refusal_wait_seconds_total", .counter,
                "Time that refused images had waited for a pixel worker, by reason.", by: "reason",
                load.refusals.map { ($0.reason, $0.waited / .seconds(1)) }),
        ]
    }

    private var prefetchFamilies: [MetricFamily] {
        let counts = prefetcher.itemCounts
        return [
            .gauge("darkroom_prefetch_jobs_running", "Running prefetch jobs.", prefetcher.runningCount),
            MetricFamily(
                "darkroom_prefetch_images_total", .counter,
                "Images of prefetch jobs, by result: ready (processed or cached) or failed.", by: "result",
                [("ready", Double(counts.done)), ("failed", Double(counts.failed))]),
        ]
    }

    private var workerFamilies: [MetricFamily] {
        guard let statistics = workers?.statistics else { return [] }
        return [
            .gauge("darkroom_workers", "Worker processes that are ready or busy.", statistics.ready),
            .gauge("darkroom_workers_desired", "Target number of worker processes.", statistics.configured),
            .gauge(
                "darkroom_worker_resident_memory_bytes", "Resident memory of all worker processes.",
                statistics.residentBytes),
            .gauge("darkroom_quarantined", "Sources and jobs in quarantine.", statistics.quarantined),
            .counter("darkroom_worker_starts_total", "Worker processes started.", statistics.started),
            .counter(
                "darkroom_worker_failed_starts_total", "Worker processes that failed to start.",
                statistics.failedStarts),
            MetricFamily(
                "darkroom_worker_cpu_seconds_total", .counter,
                help: "CPU time of all worker processes, exited ones included.", statistics.processorSeconds),
            .counter(
                "darkroom_quarantine_refusals_total", "Images refused because of the quarantine.", statistics.refused),
            MetricFamily(
                "darkroom_worker_ends_total", .counter, "Worker processes ended, by reason.", by: "reason",
                WorkerStatistics.EndReason.allCases.map { ($0.rawValue, Double(statistics.ended[$0] ?? 0)) }),
        ]
    }

    // MARK: Caches

    private var cacheFamilies: [MetricFamily] {
        let tiers = caches.tiers.named
        // A tier has no series of what it does not count.
        func family(
            _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: (CacheTier) -> Int?
        ) -> MetricFamily {
            let readings = tiers.compactMap { name, tier in value(tier).map { (name, Double($0)) } }
            return MetricFamily(name, kind, "\(help), by tier.", by: "tier", readings)
        }
        return [
            family("darkroom_cache_entries", .gauge, "Cache entries") { $0.entries },
            family("darkroom_cache_bytes", .gauge, "Bytes of cache entries") { $0.bytes },
            family("darkroom_cache_budget_bytes", .gauge, "Byte budget") { $0.budgetBytes },
            family("darkroom_cache_hits_total", .counter, "Cache hits") { $0.hits },
            family("darkroom_cache_misses_total", .counter, "Cache misses") { $0.misses },
            family("darkroom_cache_evictions_total", .counter, "Entries evicted to stay within the budget") {
                $0.evictions
            },
            family("darkroom_cache_damaged_total", .counter, "Corrupt entries found and removed") { $0.damaged },
            family("darkroom_cache_dropped_writes_total", .counter, "Entries dropped before being written") {
                $0.droppedWrites
            },
            family("darkroom_cache_queued_writes", .gauge, "Entries waiting to be written") { $0.queuedWrites },
            family("darkroom_cache_queued_bytes", .gauge, "Bytes of entries waiting to be written") { $0.queuedBytes },
        ]
    }

    /// Readings of the shared tier; empty without a shared tier.
    private var sharedFamilies: [MetricFamily] {
        guard let statistics = caches.shared?.statistics else { return [] }
        let results = [
            ("hit", statistics.hits), ("miss", statistics.misses), ("failure", statistics.failures),
            ("skipped", statistics.skipped),
        ]
        let activities = [("reading", statistics.isReadable), ("writing", statistics.isWritable)]
        return [
            MetricFamily(
                "darkroom_shared_store_lookups_total", .counter,
                "Lookups in the shared store, by result: hit, miss, failure (an error, or no answer in time) or "
                    + "skipped (because the store was failing).", by: "result", results.map { ($0, Double($1)) }),
            MetricFamily(
                "darkroom_shared_store_up", .gauge,
                "1 while the shared store works, else 0, by activity: reading or writing.", by: "activity",
                activities.map { ($0, $1 ? 1 : 0) }),
            .gauge(
                "darkroom_shared_store_queued_writes", "Writes waiting for the shared store.", statistics.queuedWrites),
            .gauge(
                "darkroom_shared_store_queued_bytes", "Bytes waiting to be written to the shared store.",
                statistics.queuedBytes),
            MetricFamily(
                "darkroom_shared_store_purge_log_age_seconds", .gauge,
                help: "Time since this server last knew the purges of all servers that share the store.",
                statistics.purgeLogAge / .seconds(1)),
            .counter(
                "darkroom_shared_store_damaged_total",
                "Objects in the shared store that were corrupt, foreign or incomplete.", statistics.damaged),
            .counter(
                "darkroom_shared_store_writes_total", "Objects written to the shared store.", statistics.writes),
            .counter(
                "darkroom_shared_store_dropped_writes_total",
                "Writes to the shared store that were dropped: the queue was full, or the store failed.",
                statistics.droppedWrites),
        ]
    }

    // MARK: Caches in front

    /// Readings of purges of the caches in front; none without the setting `purge-to`.
    private var edgeFamilies: [MetricFamily] {
        let statistics = edges.statistics
        guard !statistics.isEmpty else { return [] }
        let requests = statistics.flatMap { edge in
            [("told", edge.told), ("postponed", edge.postponed), ("refused", edge.refused)].map { result, count in
                MetricFamily.Series(
                    SeriesLabels([("edge", edge.edge), ("result", result)]), .number(Double(count)))
            }
        }
        return [
            MetricFamily(
                "darkroom_edge_purge_requests_total", .counter,
                help: "Requests to purge caches in front, by cache and result: told (confirmed), postponed (the cache "
                    + "is busy or does not answer; repeated later) or refused.", requests),
            MetricFamily(
                "darkroom_edge_purges_pending", .gauge, "Requests to purge that the cache has not confirmed.",
                by: "edge", statistics.map { ($0.edge, Double($0.pending)) }),
            MetricFamily(
                "darkroom_edge_purge_overdue_seconds", .gauge,
                "How long the oldest purge that is due waits for the cache to confirm it; 0 without one.", by: "edge",
                statistics.map { ($0.edge, $0.overdueSeconds) }),
            MetricFamily(
                "darkroom_edge_purges_collapsed_total", .counter,
                "Times that too many purges waited, so that one purge of everything took their place, by cache.",
                by: "edge", statistics.map { ($0.edge, Double($0.collapsed)) }),
            .counter(
                "darkroom_edge_queue_write_failures_total",
                "Times that the queue of purges could not be written to disk.", edges.fileFailures),
        ]
    }

    // MARK: Formats

    /// The work of answering in two steps.
    private var formatFamilies: [MetricFamily] {
        let upgrades = pipeline.formatUpgrades
        return [
            .counter(
                "darkroom_interim_answers_total",
                "Images answered in a faster format because the preferred format was not ready.",
                upgrades.interimAnswers),
            MetricFamily(
                "darkroom_format_upgrades_total", .counter,
                "Images made in the preferred format after a response in a faster format, by result: made, dropped "
                    + "(under load, or after a purge) or failed.", by: "result",
                upgrades.outcomes.map { ($0.result, Double($0.count)) }),
            .gauge(
                "darkroom_format_upgrades_waiting", "Images waiting to be made in the preferred format.",
                upgrades.waiting),
            .gauge(
                "darkroom_format_upgrades_running", "Images being made in the preferred format.", upgrades.running),
        ]
    }

    // MARK: Signing keys

    /// What signing keys have used; none without keys. The number of series is bounded by the number of keys.
    private var keyFamilies: [MetricFamily] {
        let keys = accounts.usage
        guard !keys.isEmpty else { return [] }
        func series(_ key: KeyUsage, _ quota: String, _ value: Double) -> MetricFamily.Series {
            MetricFamily.Series(SeriesLabels([("key", key.id), ("quota", quota)]), .number(value))
        }
        let ratios = keys.flatMap { key in key.quotas.map { series(key, $0.kind.rawValue, $0.ratio) } }
        return [
            MetricFamily(
                "darkroom_key_processor_seconds_total", .counter,
                "Time on pixel workers for requests of a signing key.", by: "key",
                keys.map { ($0.id, $0.processorSeconds) }),
            MetricFamily(
                "darkroom_key_egress_bytes_total", .counter, "Bytes of response bodies to requests of a signing key.",
                by: "key", keys.map { ($0.id, $0.egressBytes) }),
            MetricFamily(
                "darkroom_key_cache_bytes", .gauge, "Bytes of cache entries that count for a signing key.", by: "key",
                keys.compactMap { key in key.cacheBytes.map { (key.id, Double($0)) } }),
            MetricFamily(
                "darkroom_key_quota_used_ratio", .gauge,
                help: "Used part of a signing key's quota: cache, processor or egress. Above 1, requests are refused.",
                ratios + keys.compactMap { key in key.cacheRatio.map { series(key, "cache", $0) } }),
            MetricFamily(
                "darkroom_key_quota_refusals_total", .counter,
                help: "Requests refused because a signing key had used up a quota: processor or egress.",
                keys.flatMap { key in key.quotas.map { series(key, $0.kind.rawValue, Double($0.refusals)) } }),
        ]
    }
}

extension MetricFamily {
    /// A gauge without labels.
    static func gauge(_ name: String, _ help: String, _ value: Int) -> MetricFamily {
        MetricFamily(name, .gauge, help: help, Double(value))
    }

    /// A counter without labels.
    static func counter(_ name: String, _ help: String, _ value: Int) -> MetricFamily {
        MetricFamily(name, .counter, help: help, Double(value))
    }

    /// A metric with one label: a reading for each of its values.
    init(_ name: String, _ kind: Kind, _ help: String, by label: String, _ readings: [(String, Double)]) {
        self.init(name, kind, help: help, readings.map { Series(SeriesLabels([(label, $0)]), .number($1)) })
    }
}
