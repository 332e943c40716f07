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

/// The `tracestate` field of W3C Trace Context (level 1, §3.3): vendor data that is propagated unchanged. This server
/// adds none.
package struct TraceState: Hashable, Sendable {
    /// The field's value: at most 32 members and 512 bytes, the minimum that must be propagated.
    package let text: String

    /// Nil when a member is invalid, a key is repeated, there are more than 32 members, or none. State longer than 512
    /// bytes is truncated as specified: members of more than 128 bytes are removed first, then the last members.
    package init?(parsing text: String) {
        let members = text[...].plainListMembers
        let keys = members.compactMap(Self.key)
        guard (1...Self.maxMembers).contains(members.count), keys.count == members.count, Set(keys).count == keys.count
        else { return nil }
        self.text = Self.truncated(members).joined(separator: ",")
        if self.text.isEmpty { return nil }
    }

    private static let maxMembers = 32
    private static let maxBytes = 512
    private static let maxMemberBytes = 128

    private static func truncated(_ members: [Substring]) -> [Substring] {
        let bytes = { (members: [Substring]) in members.reduce(members.count - 1) { $0 + $1.utf8.count } }
        guard bytes(members) > maxBytes else { return members }
        var remaining = members.filter { $0.utf8.count <= maxMemberBytes }
        while !remaining.isEmpty, bytes(remaining) > maxBytes { remaining.removeLast() }
        return remaining
    }

    /// The key of a member; nil when the member is invalid.
    private static func key(of member: Substring) -> Substring? {
        guard let equals = member.firstIndex(of: "=") else { return nil }
        let (key, value) = (member[..<equals], member[equals...].dropFirst())
        let isValue =
            (1...256).contains(value.utf8.count)
            && value.utf8.allSatisfy {
                (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=")
            }
        return isValue && isKey(key) ? key : nil
    }

    /// Whether the text is `name`, or `tenant@system` whose tenant may begin with a digit.
    private static func isKey(_ key: Substring) -> Bool {
        let parts = key.split(separator: "@", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return isName(parts[0], maxBytes: 256)
        case 2: return isName(parts[0], maxBytes: 241, mayBeginWithDigit: true) && isName(parts[1], maxBytes: 14)
        default: return false
        }
    }

    private static func isName(_ name: Substring, maxBytes: Int, mayBeginWithDigit: Bool = false) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= maxBytes else { return false }
        return (first.isASCIILowercase || mayBeginWithDigit && first.isASCIIDigit)
            && name.utf8.allSatisfy { $0.isASCIILowercase || $0.isASCIIDigit || "_-*/".utf8.contains($0) }
    }
}
