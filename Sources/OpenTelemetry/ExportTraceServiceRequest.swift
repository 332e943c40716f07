import DarkroomTracing
import Foundation
import NIOCore
import Tracing

/// The message of opentelemetry-proto with which spans are sent, in the JSON encoding of OTLP 1.x: protobuf's JSON
/// mapping, but with ids in hexadecimal and enumerations as numbers. Numbers of 64 bits are texts.
///
/// Types and properties have the names of messages and fields. Fields with default values are omitted.
struct ExportTraceServiceRequest: Encodable {
    let resourceSpans: [ResourceSpans]

    init(_ spans: [SpanRecord], of resource: TelemetryResource) {
        let scope = InstrumentationScope(name: "darkroom", version: resource.version)
        resourceSpans = [
            ResourceSpans(
                resource: Resource(attributes: resource.attributes.map { KeyValue(key: $0, value: .text($1)) }),
                scopeSpans: [ScopeSpans(scope: scope, spans: spans.map(EncodedSpan.init))])
        ]
    }

    var json: ByteBuffer {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
            return ByteBuffer(bytes: try encoder.encode(self))
        }
    }

    struct ResourceSpans: Encodable {
        let resource: Resource
        let scopeSpans: [ScopeSpans]
    }

    struct Resource: Encodable {
        let attributes: [KeyValue]
    }

    struct ScopeSpans: Encodable {
        let scope: InstrumentationScope
        let spans: [EncodedSpan]
    }

    struct InstrumentationScope: Encodable {
        let name: String
        let version: String
    }
}

/// `Span`
struct EncodedSpan: Encodable {
    let traceId: String
    let spanId: String
    let traceState: String?
    let parentSpanId: String?
    let flags: UInt32
    let name: String
    let kind: Int
    let startTimeUnixNano: String
    let endTimeUnixNano: String
    let attributes: [KeyValue]
    let events: [Event]?
    let droppedEventsCount: Int?
    let links: [Link]?
    let droppedLinksCount: Int?
    let status: Status?

    struct Event: Encodable {
        let timeUnixNano: String
        let name: String
        let attributes: [KeyValue]
    }

    struct Link: Encodable {
        let traceId: String
        let spanId: String
        let traceState: String?
        let attributes: [KeyValue]
    }

    struct Status: Encodable {
        let message: String?
        let code: Int
    }

    init(_ record: SpanRecord) {
        traceId = record.span.traceID
        spanId = record.span.spanID
        traceState = record.traceState
        parentSpanId = record.parentID
        flags = Flags.sampled | Flags.knowsParent | (record.isParentRemote ? Flags.parentIsRemote : 0)
        name = record.name
        kind = record.kind.number
        startTimeUnixNano = "\(record.start)"
        endTimeUnixNano = "\(record.end)"
        attributes = record.attributes.encoded
        events = record.events.isEmpty ? nil : record.events.map(Event.init)
        droppedEventsCount = record.droppedEvents > 0 ? record.droppedEvents : nil
        links = record.links.isEmpty ? nil : record.links.compactMap(Link.init)
        droppedLinksCount = record.droppedLinks > 0 ? record.droppedLinks : nil
        status = record.status.map { Status(message: $0.message, code: $0.code == .ok ? 1 : 2) }
    }

    /// `SpanFlags`: the trace flags of W3C Trace Context, and whether the parent is a span of another process.
    private enum Flags {
        static let sampled: UInt32 = 0x01
        static let knowsParent: UInt32 = 0x100
        static let parentIsRemote: UInt32 = 0x200
    }
}

extension EncodedSpan.Event {
    fileprivate init(_ event: SpanEvent) {
        self.init(
            timeUnixNano: "\(event.nanosecondsSinceEpoch)", name: event.name, attributes: event.attributes.encoded)
    }
}

extension EncodedSpan.Link {
    /// Nil for a link to something without a trace.
    fileprivate init?(_ link: SpanLink) {
        guard let trace = link.context.trace else { return nil }
        self.init(
            traceId: trace.parent.traceID, spanId: trace.parent.spanID, traceState: trace.state?.text,
            attributes: link.attributes.encoded)
    }
}

extension SpanKind {
    /// The number of `SpanKind` in opentelemetry-proto.
    fileprivate var number: Int {
        switch self {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}

/// `KeyValue`: an attribute.
struct KeyValue: Encodable {
    let key: String
    let value: AnyValue

    /// `AnyValue`
    indirect enum AnyValue: Encodable {
        case text(String)
        case boolean(Bool)
        case integer(Int64)
        case number(Double)
        case list([AnyValue])

        private enum Keys: String, CodingKey { case stringValue, boolValue, intValue, doubleValue, arrayValue, values }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            switch self {
            case .text(let text): try container.encode(text, forKey: .stringValue)
            case .boolean(let value): try container.encode(value, forKey: .boolValue)
            case .integer(let number): try container.encode("\(number)", forKey: .intValue)
            case .number(let number): try container.encode(number, forKey: .doubleValue)
            case .list(let values):
                var list = container.nestedContainer(keyedBy: Keys.self, forKey: .arrayValue)
                try list.encode(values, forKey: .values)
            }
        }
    }
}

extension SpanAttributes {
    /// The attributes in alphabetical order.
    var encoded: [KeyValue] {
        var encoded: [KeyValue] = []
        forEach { key, value in
            if let value = KeyValue.AnyValue(value) { encoded.append(KeyValue(key: key, value: value)) }
        }
        return encoded.sorted { $0.key < $1.key }
    }
}

extension KeyValue.AnyValue {
    /// Nil for a kind of value that this version does not support.
    fileprivate init?(_ attribute: SpanAttribute) {
        switch attribute {
        case .string(let text): self = .text(text)
        case .bool(let value): self = .boolean(value)
        case .int32(let number): self = .integer(Int64(number))
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .number(number)
        case .stringConvertible(let value): self = .text("\(value)")
        case .stringArray(let texts): self = .list(texts.map { .text($0) })
        case .boolArray(let values): self = .list(values.map { .boolean($0) })
        case .int32Array(let numbers): self = .list(numbers.map { .integer(Int64($0)) })
        case .int64Array(let numbers): self = .list(numbers.map { .integer($0) })
        case .doubleArray(let numbers): self = .list(numbers.map { .number($0) })
        case .stringConvertibleArray(let values): self = .list(values.map { .text("\($0)") })
        default: return nil
        }
    }
}

/// What describes this process to a collector (OpenTelemetry: resource).
package struct TelemetryResource: Sendable {
    let version: String
    /// Names and values, in alphabetical order.
    let attributes: [(name: String, value: String)]

    /// The resource of this process.
    ///
    /// `OTEL_RESOURCE_ATTRIBUTES` adds or replaces attributes and `OTEL_SERVICE_NAME` the name of the service, as
    /// OpenTelemetry's specification of environment variables says. Attributes that cannot be read are ignored
    /// altogether. The instance distinguishes this process from others of the service.
    package init(
        version: String, environment: [String: String], host: String = ProcessInfo.processInfo.hostName,
        instance: String = UUID().uuidString.lowercased()
    ) {
        var attributes = [
            "service.name": "darkroom", "service.version": version, "service.instance.id": instance, "host.name": host,
        ]
        let given = environment["OTEL_RESOURCE_ATTRIBUTES"].flatMap(Self.attributes) ?? [:]
        attributes.merge(given) { $1 }
        if let name = environment["OTEL_SERVICE_NAME"], !name.isEmpty { attributes["service.name"] = name }
        // These state what wrote the spans, so they cannot be replaced.
        attributes["telemetry.sdk.name"] = "darkroom"
        attributes["telemetry.sdk.language"] = "swift"
        attributes["telemetry.sdk.version"] = version
        self.version = version
        self.attributes = attributes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Reads `name=value` pairs with percent-encoding, separated by commas; nil if one of them is malformed.
    private static func attributes(in text: String) -> [String: String]? {
        var attributes: [String: String] = [:]
        for member in text.split(separator: ",") {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces).removingPercentEncoding
            }
            guard parts.count == 2, let name = parts[0], let value = parts[1], !name.isEmpty else { return nil }
            attributes[name] = value
        }
        return attributes
    }
}
