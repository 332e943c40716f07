import DarkroomNetwork

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
