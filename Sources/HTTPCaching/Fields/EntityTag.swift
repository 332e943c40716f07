/// A validator of one representation (RFC 9110 §8.8.3).
public struct EntityTag: Hashable, Sendable {
    /// What stands between the quotes.
    public let opaque: String
    /// Whether equal tags only promise equivalent, not identical bytes.
    public let isWeak: Bool

    /// - Parameter opaque: printable ASCII without quotes, or bytes above it; anything else could not be sent.
    public init(_ opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Reads the one tag of an `ETag` field; nil for anything else, such as a tag without quotes.
    public init?(parsing text: String) {
        guard case .tags(let tags)? = EntityTagCondition(parsing: text), let tag = tags.first,
            tag.description == text
        else { return nil }
        self = tag
    }

    /// The comparison that `If-None-Match` asks for (RFC 9110 §8.8.3.2): weakness does not count.
    public func weaklyEquals(_ other: EntityTag) -> Bool { opaque == other.opaque }
}

extension EntityTag: CustomStringConvertible {
    /// As it stands in a field: `"abc"` or `W/"abc"`.
    public var description: String { isWeak ? "W/\"\(opaque)\"" : "\"\(opaque)\"" }
}

/// What `If-None-Match` lists (RFC 9110 §13.1.2).
public enum EntityTagCondition: Hashable, Sendable {
    /// `*`: any current representation.
    case any
    case tags([EntityTag])

    /// Nil where the text is neither `*` nor a list of entity tags. Empty members of the list are skipped
    /// (RFC 9110 §5.6.1).
    public init?(parsing text: String) {
        var rest = text.utf8[...]
        Self.skip(&rest, Self.blanks)
        if rest.first == UInt8(ascii: "*") {
            rest = rest.dropFirst()
            Self.skip(&rest, Self.blanks)
            guard rest.isEmpty else { return nil }
            self = .any
            return
        }
        var tags: [EntityTag] = []
        Self.skip(&rest, Self.blanksAndCommas)
        while !rest.isEmpty {
            guard let tag = Self.tag(&rest) else { return nil }
            tags.append(tag)
            Self.skip(&rest, Self.blanks)
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
            Self.skip(&rest, Self.blanksAndCommas)
        }
        guard !tags.isEmpty else { return nil }
        self = .tags(tags)
    }

    /// Whether a current representation with that tag is among those named.
    public func matches(_ current: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.weaklyEquals(current) }
        }
    }

    private static let blanks = Array(" \t".utf8)
    private static let blanksAndCommas = Array(" \t,".utf8)

    private static func skip(_ rest: inout Substring.UTF8View, _ bytes: [UInt8]) {
        while let byte = rest.first, bytes.contains(byte) { rest = rest.dropFirst() }
    }

    private static func tag(_ rest: inout Substring.UTF8View) -> EntityTag? {
        let isWeak = rest.starts(with: "W/".utf8)
        if isWeak { rest = rest.dropFirst(2) }
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        rest = rest.dropFirst()
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")), rest[..<end].allSatisfy(isTagByte) else { return nil }
        defer { rest = rest[end...].dropFirst() }
        return EntityTag(String(Substring(rest[..<end])), isWeak: isWeak)
    }

    /// `etagc` of RFC 9110 §8.8.3.
    private static func isTagByte(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x7f }
}
