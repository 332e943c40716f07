import DarkroomNetwork
package import Tracing

/// The `traceparent` field of W3C Trace Context (level 1, §3.2): the trace of a request, and its parent span.
package struct TraceParent: Hashable, Sendable {
    /// The trace: 32 lower-case hexadecimal digits, not all zero.
    package let traceID: String
    /// The sender's span: 16 lower-case hexadecimal digits, not all zero.
    package let spanID: String
    /// Whether the sender may have recorded its span.
    package let isSampled: Bool

    /// Starts a new trace.
    package init(isSampled: Bool = false) {
        self.init(
            traceID: Self.randomDigits() + Self.randomDigits(), spanID: Self.randomDigits(), isSampled: isSampled)
    }

    /// Nil for text that the specification calls invalid: upper case, all zeros, version ff, or version 00 with
    /// anything after the flags. Of later versions, the four fields of version 00 are read.
    package init?(parsing text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= Self.byteCount, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            let version = Self.field(bytes[0..<2]), version != "ff",
            bytes.count == Self.byteCount || version != "00" && bytes[Self.byteCount] == UInt8(ascii: "-"),
            let traceID = Self.field(bytes[3..<35]), traceID.contains(where: { $0 != "0" }),
            let spanID = Self.field(bytes[36..<52]), spanID.contains(where: { $0 != "0" }),
            let flags = Self.field(bytes[53..<55]).flatMap({ UInt8($0, radix: 16) })
        else { return nil }
        self.init(traceID: traceID, spanID: spanID, isSampled: flags & 1 == 1)
    }

    private init(traceID: String, spanID: String, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// A new span of the same trace, which is recorded or is not.
    package func child(isSampled: Bool) -> TraceParent {
        TraceParent(traceID: traceID, spanID: Self.randomDigits(), isSampled: isSampled)
    }

    /// The field's value in version 00. Flags that version 00 does not define are cleared (§3.2.2.5).
    package var text: String { "00-\(traceID)-\(spanID)-0\(isSampled ? 1 : 0)" }

    /// The length of a version 00 value.
    private static let byteCount = 55

    /// The bytes as text; nil unless all are lower-case hexadecimal digits.
    private static func field(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.allSatisfy(\.isLowercaseHexDigit) ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// 16 random hexadecimal digits, not all zero.
    private static func randomDigits() -> String {
        let digits = String(UInt64.random(in: 1...UInt64.max), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

/// Propagates W3C Trace Context without recording spans: for a process that has no tracing backend of its own but sits
/// between systems that do.
///
/// A request without a valid `traceparent` starts a new trace, as the specification's processing model requires, when a
/// request to an origin needs it, so that requests which need none cost no random numbers.
package struct W3CTraceContext: W3CPropagation {
    package init() {}
}

/// An instrument that propagates W3C Trace Context.
package protocol W3CPropagation: Instrument {}

extension W3CPropagation {
    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: "traceparent", from: carrier).flatMap(TraceParent.init(parsing:))
        else {
            // A `tracestate` without a valid `traceparent` belongs to an unknown trace and must be discarded.
            context.trace = Trace(received: nil, state: nil)
            return
        }
        let state = extractor.extract(key: "tracestate", from: carrier).flatMap(TraceState.init(parsing:))
        context.trace = Trace(received: parent, state: state)
    }

    /// Injects nothing when the context has no trace.
    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.parent.text, forKey: "traceparent", into: &carrier)
        if let state = trace.state { injector.inject(state.text, forKey: "tracestate", into: &carrier) }
    }
}
