package import CoreMetrics

/// What the server tells whoever runs it, and where it counts.
package struct Instruments: Sendable {
    /// Takes what is counted of requests and pictures; see ``help``.
    package var metrics: any MetricsFactory
    /// All metrics at this moment, in Prometheus' text format 0.0.4. It may read small files.
    package var exposition: @Sendable () -> String
    /// What the caches hold at this moment.
    package var caches: @Sendable () -> CacheTiers
    /// Whether the disk cache can be read and written, as far as is known; also where there is none. Asked for each answer to
    /// `/health/ready`, which goes on asking until it can.
    package var cacheWorks: @Sendable () -> Bool
    /// The requests under way.
    package var traffic: Traffic
    /// Whether pictures can be made now. Asked for each answer to `/health/ready`.
    package var isHealthy: @Sendable () -> Bool = { true }

    /// - Parameters:
    ///   - exposition: asked for each answer to `/metrics`.
    ///   - caches: asked for each answer to `GET /cache`.
    ///   - cacheWorks: see the property.
    package init(
        metrics: any MetricsFactory, traffic: Traffic, exposition: @escaping @Sendable () -> String,
        caches: @escaping @Sendable () -> CacheTiers, cacheWorks: @escaping @Sendable () -> Bool
    ) {
        self.metrics = metrics
        self.traffic = traffic
        self.exposition = exposition
        self.caches = caches
        self.cacheWorks = cacheWorks
    }

    /// One sentence on each metric that is counted here, by its name.
    package static let help = RequestMeter.help.merging(PictureMeter.help) { first, _ in first }
}
