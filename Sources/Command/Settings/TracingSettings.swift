import DarkroomOpenTelemetry
import DarkroomTracing
import Foundation
import HTTPTypes
import Logging
import NIOPosix

struct TracingSettings: SettingTheme {
    let title = "Tracing"

    let endpoint = Setting(
        "otlp-endpoint", .optional(.webURL), default: nil,
        help: """
            Base URL of an OpenTelemetry collector, such as http://127.0.0.1:4318, that receives spans by OTLP/HTTP \
            with JSON at /v1/traces. Without it no spans are recorded.
            """)
    let headers = Setting(
        "otlp-headers", .headerFields, default: [], isSecret: true,
        help: """
            Header fields for each request to otlp-endpoint, such as authorization=Bearer%20abc, with percent-encoded \
            values. Prefer the environment or the file: flags are visible in the process list.
            """)
    let sampleRatio = Setting(
        "otlp-sample-ratio", .ratio, default: 0.01,
        help: """
            Share of requests whose spans are recorded. Requests with a traceparent that is not sampled are never \
            recorded; requests from trusted-proxies with a sampled traceparent are always recorded.
            """)
}

extension SettingKind where Value == Double {
    /// A number from 0 to 1; small ones may have an exponent, such as 5e-05.
    static var ratio: SettingKind {
        SettingKind("RATIO", "a number from 0 to 1 such as 0.05") {
            $0.rounded() == $0 ? "\(Int($0))" : "\($0)"
        } parse: { text in
            guard text.allSatisfy({ $0.isASCII && ($0.isNumber || ".e-".contains($0)) }) else { return nil }
            return Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
        }
    }
}

extension SettingKind where Value == [HTTPField] {
    /// `name=value` pairs with percent-encoded values, as in `OTEL_EXPORTER_OTLP_HEADERS`, or a YAML map of names to
    /// plain values.
    static var headerFields: SettingKind {
        let grammar = "NAME=VALUE, such as authorization=Bearer%20abc, with percent-encoded values"
        return SettingKind("NAME=VALUE,...", grammar, format: masked) { value throws(SettingRefusal) in
            var fields: [HTTPField] = []
            for member in value.members {
                if case .map(let named) = member {
                    for (name, value) in named { fields.append(try field(name, value.text, grammar)) }
                    continue
                }
                let parts = member.text?.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false) ?? []
                guard parts.count == 2 else { throw .expected(grammar, got: nil) }
                fields.append(try field(String(parts[0]), String(parts[1]).removingPercentEncoding, grammar))
            }
            return fields
        }
    }

    private static func field(
        _ name: String, _ value: String?, _ grammar: String
    ) throws(SettingRefusal) -> HTTPField {
        guard let name = HTTPField.Name(name), let value, HTTPField.isValidValue(value) else {
            throw .expected(grammar, got: nil)
        }
        return HTTPField(name: name, value: value)
    }
}

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
