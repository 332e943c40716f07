import DarkroomMetrics
import DarkroomPipeline
import DarkroomWeb
import DarkroomWorkers
import Foundation

/// What is not counted as it happens but read when somebody scrapes.
struct Readings: Sendable {
    let caches: Caches
    let pipeline: ImagePipeline
    let prefetcher: Prefetcher
    let serverState: ServerState
    /// Nil = there are none.
    let workers: WorkerImageProcessor?
    let startedAt: Date
    let inFlightBytes: @Sendable () -> Int

    var families: [MetricFamily] {
        cacheFamilies + serverFamilies + loadFamilies + prefetchFamilies + workerFamilies + processFamilies
    }

    private var serverFamilies: [MetricFamily] {
        [
            MetricFamily(
                "darkroom_http_requests_under_way", .gauge, help: "Requests that have no answer yet.",
                Double(serverState.inFlightRequests))
        ]
    }

    private var loadFamilies: [MetricFamily] {
        let load = pipeline.load
        let gauges = [
            ("darkroom_pixel_queue_waiting", "Pictures that wait for a pixel thread.", load.waitingCount),
            (
                "darkroom_pixel_memory_waiting_bytes", "Foretold memory of pictures that wait for a pixel thread.",
                load.waitingBytes
            ),
            ("darkroom_pixel_memory_bytes", "Foretold memory of pictures in work.", load.runningBytes),
            ("darkroom_pixel_memory_budget_bytes", "What that may come to.", load.budgetBytes),
            (
                "darkroom_downloads_in_flight_bytes",
                "Bytes of downloads under way, with those that are whole but still in work.", inFlightBytes()
            ),
        ]
        return gauges.map { MetricFamily($0, .gauge, help: $1, Double($2)) } + [
            MetricFamily(
                "darkroom_pixel_refusals_total", .counter,
                help: "Pictures refused for want of room or time: full, displaced, too_late or expired.",
                load.refusals.map { reason, count in
                    MetricFamily.Series(SeriesLabels([("reason", reason)]), .number(Double(count)))
                })
        ]
    }

    private var prefetchFamilies: [MetricFamily] {
        let counts = prefetcher.itemCounts
        return [
            MetricFamily(
                "darkroom_prefetch_jobs_running", .gauge, help: "Prefetching jobs that have not ended.",
                Double(prefetcher.runningCount)),
            MetricFamily(
                "darkroom_prefetch_pictures_total", .counter,
                help: "Pictures of prefetching jobs, by result: ready (made or found) or failed.",
                [("ready", counts.done), ("failed", counts.failed)].map { result, count in
                    MetricFamily.Series(SeriesLabels([("result", result)]), .number(Double(count)))
                }),
        ]
    }

    /// By the names that Prometheus' own libraries use. What this platform does not tell is left out.
    private var processFamilies: [MetricFamily] {
        let readings: [(name: String, help: String, value: Double?)] = [
            (
                "process_resident_memory_bytes", "Memory of the process that is in the machine's.",
                ProcessFiles.residentBytes.map { Double($0) }
            ),
            (
                "process_open_fds", "File descriptors that the process has open.",
                ProcessFiles.openDescriptors.map { Double($0) }
            ),
            (
                "process_start_time_seconds", "When the server was started, in seconds since 1970.",
                startedAt.timeIntervalSince1970
            ),
        ]
        return readings.compactMap { reading in
            reading.value.map { MetricFamily(reading.name, .gauge, help: reading.help, $0) }
        }
    }

    private var workerFamilies: [MetricFamily] {
        guard let statistics = workers?.statistics else { return [] }
        let ends = WorkerStatistics.EndReason.allCases.map { end in
            MetricFamily.Series(
                SeriesLabels([("reason", end.rawValue)]), .number(Double(statistics.ended[end] ?? 0)))
        }
        let readings: [(name: String, kind: MetricFamily.Kind, help: String, value: Int)] = [
            ("darkroom_workers", .gauge, "Worker processes that are ready or busy.", statistics.ready),
            ("darkroom_workers_wanted", .gauge, "Worker processes that there are when all is well.", statistics.configured),
            (
                "darkroom_worker_resident_memory_bytes", .gauge,
                "Memory of all worker processes that is in the machine's.", statistics.residentBytes
            ),
            ("darkroom_worker_starts_total", .counter, "Worker processes that were started.", statistics.started),
            (
                "darkroom_worker_failed_starts_total", .counter, "Worker processes that never were ready.",
                statistics.failedStarts
            ),
            (
                "darkroom_quarantined", .gauge, "Contents and pieces of work that are refused at once.",
                statistics.quarantined
            ),
            (
                "darkroom_quarantine_refusals_total", .counter, "Pictures that were refused because of that.",
                statistics.refused
            ),
        ]
        return [
            MetricFamily("darkroom_worker_ends_total", .counter, help: "Worker processes that ended, by reason.", ends)
        ] + readings.map { MetricFamily($0.name, $0.kind, help: $0.help, Double($0.value)) }
    }

    // MARK: Caches

    private struct CacheReading: Sendable {
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

    private var cacheFamilies: [MetricFamily] {
        let tiers = caches.tiers.named
        return Self.cacheReadings.map { reading in
            let series = tiers.compactMap { name, tier in
                reading.value(tier).map {
                    MetricFamily.Series(SeriesLabels([("tier", name)]), .number(Double($0)))
                }
            }
            return MetricFamily(reading.name, reading.kind, help: reading.help, series)
        }
    }

    private static let cacheReadings = [
        CacheReading("darkroom_cache_entries", .gauge, "Entries held, by tier.") { $0.entries },
        CacheReading("darkroom_cache_bytes", .gauge, "Bytes held, by tier.") { $0.bytes },
        CacheReading("darkroom_cache_budget_bytes", .gauge, "Bytes that may be held, by tier.") { $0.budgetBytes },
        CacheReading("darkroom_cache_hits_total", .counter, "Look-ups that found their entry, by tier.") { $0.hits },
        CacheReading("darkroom_cache_misses_total", .counter, "Look-ups that did not, by tier.") { $0.misses },
        CacheReading("darkroom_cache_evictions_total", .counter, "Entries that made room for others, by tier.") {
            $0.evictions
        },
        CacheReading("darkroom_cache_damaged_total", .counter, "Entries that were found damaged, and removed.") {
            $0.damaged
        },
        CacheReading("darkroom_cache_dropped_writes_total", .counter, "Entries that were not written.") {
            $0.droppedWrites
        },
        CacheReading("darkroom_cache_queued_writes", .gauge, "Entries that wait to be written.") { $0.queuedWrites },
        CacheReading("darkroom_cache_queued_bytes", .gauge, "Bytes of the entries that wait to be written.") {
            $0.queuedBytes
        },
    ]
}
