import DarkroomMetrics
import DarkroomWeb

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
