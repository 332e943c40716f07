import DarkroomNetwork

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

    /// A new span of the same trace.
    package func child() -> TraceParent { child(isSampled: isSampled) }

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
        return bytes.allSatisfy(\.isLowercaseHexDigit) ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// 16 random hexadecimal digits, not all zero.
    private static func randomDigits() -> String {
        let digits = String(UInt64.random(in: 1...UInt64.max), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
