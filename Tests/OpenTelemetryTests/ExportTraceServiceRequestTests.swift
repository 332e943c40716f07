import DarkroomTracing
import NIOCore
import Testing
import Tracing

@testable import DarkroomOpenTelemetry

/// Messages in the JSON encoding of OTLP 1.x.
struct ExportTraceServiceRequestTests {
    private static let trace = "5b8efff798038103d269b633813fc60c"
    private static let parent = "eee19b7ec3c1b173"

    private func span(_ id: String) throws -> TraceParent {
        try #require(TraceParent(parsing: "00-\(Self.trace)-\(id)-01"))
    }

    private func record(
        _ kind: SpanKind, parent: String? = nil, isRemote: Bool = false, state: String? = nil
    ) throws -> SpanRecord {
        var record = SpanRecord(
            span: try span("eee19b7ec3c1b174"), parentID: parent, isParentRemote: isRemote, traceState: state,
            name: "a \"name\"", kind: kind, start: 1_544_712_660_000_000_000)
        record.end = 1_544_712_661_000_000_000
        return record
    }

    private func json(_ record: SpanRecord) throws -> String {
        String(buffer: try ExportTraceServiceRequest([record], of: .test).json)
    }

    @Test func `A span is encoded as the specification says`() throws {
        var record = try record(.server, parent: Self.parent, isRemote: true, state: "a=1")
        record.attributes = [
            "text": "a/b", "flag": true, "small": .int32(-1), "large": .int64(.max), "share": 0.5,
            "endless": .double(.infinity), "list": .stringArray(["x", "y"]), "numbers": .int64Array([1, 2]),
        ]
        record.status = SpanStatus(code: .error, message: "failed")
        record.add(
            SpanEvent(name: "event", at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: 7), attributes: ["k": 1]))
        var context = ServiceContext.topLevel
        context.trace = Trace(recording: try span("00f067aa0ba902b7"), state: nil)
        record.add(SpanLink(context: context, attributes: [:]))
        record.add(SpanLink(context: .topLevel, attributes: [:]))
        let resource = [
            ("host.name", "machine"), ("service.instance.id", "instance-1"), ("service.name", "darkroom"),
            ("service.version", "9.8.7"), ("telemetry.sdk.language", "swift"), ("telemetry.sdk.name", "darkroom"),
            ("telemetry.sdk.version", "9.8.7"),
        ].map { #"{"key":"\#($0)","value":{"stringValue":"\#($1)"}}"# }.joined(separator: ",")
        let expected = [
            #"{"resourceSpans":[{"resource":{"attributes":[\#(resource)]},"scopeSpans":[{"#,
            #""scope":{"name":"darkroom","version":"9.8.7"},"spans":[{"attributes":["#,
            #"{"key":"endless","value":{"doubleValue":"Infinity"}},"#,
            #"{"key":"flag","value":{"boolValue":true}},"#,
            #"{"key":"large","value":{"intValue":"9223372036854775807"}},"#,
            #"{"key":"list","value":{"arrayValue":{"values":[{"stringValue":"x"},{"stringValue":"y"}]}}},"#,
            #"{"key":"numbers","value":{"arrayValue":{"values":[{"intValue":"1"},{"intValue":"2"}]}}},"#,
            #"{"key":"share","value":{"doubleValue":0.5}},"#,
            #"{"key":"small","value":{"intValue":"-1"}},"#,
            #"{"key":"text","value":{"stringValue":"a/b"}}],"#,
            #""endTimeUnixNano":"1544712661000000000","#,
            #""events":[{"attributes":[{"key":"k","value":{"intValue":"1"}}],"name":"event","timeUnixNano":"7"}],"#,
            #""flags":769,"kind":2,"#,
            #""links":[{"attributes":[],"spanId":"00f067aa0ba902b7","traceId":"\#(Self.trace)"}],"#,
            #""name":"a \"name\"","parentSpanId":"\#(Self.parent)","spanId":"eee19b7ec3c1b174","#,
            #""startTimeUnixNano":"1544712660000000000","status":{"code":2,"message":"failed"},"#,
            #""traceId":"\#(Self.trace)","traceState":"a=1"}]}]}]}"#,
        ]
        #expect(try json(record) == expected.joined())
    }

    @Test func `Fields with default values are omitted`() throws {
        let json = try json(try record(.internal))
        for field in ["parentSpanId", "traceState", "events", "links", "status", "dropped"] {
            #expect(!json.contains(field), "\(field)")
        }
        #expect(json.contains(#""flags":257,"#))
    }

    @Test(arguments: [
        (SpanKind.internal, 1), (.server, 2), (.client, 3), (.producer, 4), (.consumer, 5),
    ])
    func `A kind is a number`(kind: SpanKind, number: Int) throws {
        #expect(try json(try record(kind)).contains(#""kind":\#(number),"#))
    }

    @Test func `What a span lost to its limits is counted`() throws {
        var record = try record(.internal)
        for _ in 0..<130 { record.add(SpanEvent(name: "event")) }
        record.status = SpanStatus(code: .ok)
        let json = try json(record)
        #expect(json.contains(#""droppedEventsCount":2,"#))
        #expect(json.contains(#""status":{"code":1}"#))
    }
}

struct TelemetryResourceTests {
    private func attributes(_ environment: [String: String]) -> [String: String] {
        let resource = TelemetryResource(version: "1", environment: environment, host: "machine", instance: "i")
        return Dictionary(uniqueKeysWithValues: resource.attributes.map { ($0.name, $0.value) })
    }

    @Test func `OpenTelemetry's variables add and replace attributes`() {
        let found = attributes([
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=a%2Cb, host.name=pod=1,telemetry.sdk.name=x",
            "OTEL_SERVICE_NAME": "images",
        ])
        #expect(found["deployment.environment.name"] == "a,b")
        #expect(found["host.name"] == "pod=1")
        #expect(found["service.name"] == "images")
        #expect(found["telemetry.sdk.name"] == "darkroom")
        #expect(found["service.version"] == "1")
    }

    @Test(arguments: ["novalue", "=x", "a=%zz", "host.name=b,novalue"])
    func `Attributes that cannot be read are ignored altogether`(text: String) {
        #expect(attributes(["OTEL_RESOURCE_ATTRIBUTES": text]) == attributes([:]))
        #expect(attributes(["OTEL_SERVICE_NAME": ""])["service.name"] == "darkroom")
    }
}
