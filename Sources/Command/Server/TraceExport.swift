import DarkroomOpenTelemetry
import DarkroomTracing
import Foundation
import HTTPTypes
import Logging
import NIOPosix

/// Records spans of sampled requests and delivers them to the collector that the settings name.
struct TraceExport: Sendable {
    let tracer: OpenTelemetryTracer
    let exporter: SpanExporter

    /// Nil if there is no collector.
    init?(_ settings: Settings, logger: Logger) {
        guard let endpoint = settings.tracing.endpoint else { return nil }
        let queue = SpanQueue()
        tracer = OpenTelemetryTracer(sampler: TraceSampler(ratio: settings.tracing.sampleRatio), queue: queue)
        exporter = SpanExporter(
            queue,
            resource: TelemetryResource(
                version: Darkroom.release, environment: ProcessInfo.processInfo.environment),
            endpoint: endpoint, fields: settings.tracing.headers.map { ($0.name.rawName, $0.value) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
    }
}
