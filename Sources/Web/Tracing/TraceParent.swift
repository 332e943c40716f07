import DarkroomNetwork

/// The `traceparent` field of W3C Trace Context (level 1, §3.2): which trace a request belongs to, and whose child it is.
struct TraceParent: Hashable, Sendable {
    /// 32 lower-case hexadecimal digits, not all zero.
    let traceID: String
    /// 16 lower-case hexadecimal digits, not all zero: of whoever sends the field.
    let spanID: String
    /// Whether the sender may have recorded what it did.
    let isSampled: Bool

    /// A trace that begins here. Nothing is recorded of it, so it is not sampled.
    init() {
        var random = SystemRandomNumberGenerator()
        traceID = Self.digits(random.next()) + Self.digits(random.next())
        spanID = Self.digits(random.next())
        isSampled = false
    }

    /// Nil for whatever the standard calls invalid: upper case, zeros, version ff, version 00 with anything behind the flags. Of
    /// later versions the four fields known today are read.
    init?(parsing text: String) {
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

    /// What we are to those whom we ask: the same trace, with a span of our own.
    func child() -> TraceParent {
        TraceParent(traceID: traceID, spanID: TraceParent().spanID, isSampled: isSampled)
    }

    /// As it is sent, in version 00. Flags that this version does not define are not passed on (§3.2.2.5).
    var text: String { "00-\(traceID)-\(spanID)-0\(isSampled ? 1 : 0)" }

    /// The length of version 00.
    private static let byteCount = 55

    /// The text of these bytes, if they are lower-case hexadecimal digits.
    private static func field(_ bytes: ArraySlice<UInt8>) -> String? {
        return bytes.allSatisfy(\.isLowercaseHexDigit) ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// 16 digits, not all zero.
    private static func digits(_ number: UInt64) -> String {
        let digits = String(max(1, number), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
