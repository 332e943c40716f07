import DarkroomNetwork
public import Foundation
public import HTTPTypes

/// The preconditions of a request: whether the client already has the requested representation (RFC 9110 §13).
public enum Preconditions {
    /// The kind of response to send.
    public enum Outcome: Hashable, Sendable {
        /// The response with the representation.
        case proceed
        /// 304: the client's copy is current.
        case notModified
    }

    /// Evaluates the preconditions against the current representation (RFC 9110 §13.2.2).
    ///
    /// `If-None-Match` takes precedence over `If-Modified-Since`, even if it is malformed. A malformed date is ignored.
    /// Methods other than GET and HEAD always proceed.
    public static func evaluate(
        method: HTTPRequest.Method, fields: HTTPFields, tag: EntityTag, lastModified: Date?
    ) -> Outcome {
        guard method == .get || method == .head else { return .proceed }
        if let text = fields[.ifNoneMatch] {
            return EntityTagCondition(parsing: text)?.matches(tag) == true ? .notModified : .proceed
        }
        guard let lastModified, let text = fields[.ifModifiedSince], let since = HTTPDate(parsing: text) else {
            return .proceed
        }
        return HTTPDate(lastModified).date <= since.date ? .notModified : .proceed
    }
}

/// An entity tag: a validator of one representation (RFC 9110 §8.8.3).
public struct EntityTag: Hashable, Sendable {
    /// The opaque tag, without its quotes.
    public let opaque: String
    /// Whether equal tags promise equivalent rather than identical bytes.
    public let isWeak: Bool

    /// An entity tag.
    ///
    /// - Parameter opaque: `etagc` of RFC 9110 §8.8.3: printable ASCII without quotes, or non-ASCII.
    public init(_ opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Reads an `ETag` field. Nil for anything but one tag, such as a tag without quotes.
    public init?(parsing text: String) {
        guard case .tags(let tags)? = EntityTagCondition(parsing: text), let tag = tags.first,
            tag.description == text
        else { return nil }
        self = tag
    }

    /// Reads an `ETag` field of an origin, which may lack the quotes, as many do. Nil for a text that would be a list
    /// or `*` in a condition.
    init?(received text: String) {
        if let tag = EntityTag(parsing: text) {
            self = tag
            return
        }
        let isPlain = text.utf8.allSatisfy { EntityTagCondition.isTagByte($0) && !Self.notPlain.contains($0) }
        guard !text.isEmpty, text != "*", isPlain else { return nil }
        self.init(text)
    }

    private static let notPlain = Array("\",".utf8)

    /// Weak comparison, which `If-None-Match` requires (RFC 9110 §8.8.3.2).
    public func weaklyEquals(_ other: EntityTag) -> Bool { opaque == other.opaque }
}

extension EntityTag: CustomStringConvertible {
    /// The tag as fields spell it: `"abc"` or `W/"abc"`.
    public var description: String { isWeak ? "W/\"\(opaque)\"" : "\"\(opaque)\"" }
}

/// The condition of an `If-None-Match` field (RFC 9110 §13.1.2).
public enum EntityTagCondition: Hashable, Sendable {
    /// `*`: any current representation.
    case any
    /// The representations with one of these tags.
    case tags([EntityTag])

    /// Nil if the text is neither `*` nor a list of entity tags. Empty members are ignored (RFC 9110 §5.6.1).
    public init?(parsing text: String) {
        var reader = FieldReader(text)
        reader.skipBlanks()
        if reader.skip("*") {
            reader.skipBlanks()
            guard reader.isAtEnd else { return nil }
            self = .any
            return
        }
        var tags: [EntityTag] = []
        reader.skipBlanksAndCommas()
        while !reader.isAtEnd {
            guard let tag = Self.tag(&reader) else { return nil }
            tags.append(tag)
            reader.skipBlanks()
            guard reader.isAtEnd || reader.rest.first == UInt8(ascii: ",") else { return nil }
            reader.skipBlanksAndCommas()
        }
        guard !tags.isEmpty else { return nil }
        self = .tags(tags)
    }

    /// Whether the condition names the representation with this tag.
    public func matches(_ current: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.weaklyEquals(current) }
        }
    }

    /// Takes `entity-tag` of RFC 9110 §8.8.3, whose quotes have no escapes.
    private static func tag(_ reader: inout FieldReader) -> EntityTag? {
        let isWeak = reader.skip("W")
        if isWeak, !reader.skip("/") { return nil }
        guard reader.skip("\"") else { return nil }
        let opaque = reader.take { $0 != UInt8(ascii: "\"") }
        guard reader.skip("\""), opaque.allSatisfy(isTagByte) else { return nil }
        return EntityTag(String(Substring(opaque)), isWeak: isWeak)
    }

    /// `etagc` of RFC 9110 §8.8.3.
    fileprivate static func isTagByte(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x7f }
}

extension StoredResponse {
    /// The fields of a conditional request that validates this response: `If-None-Match` and `If-Modified-Since`, with
    /// the bytes that the origin sent (RFC 9111 §4.3.1), also if its tag lacks the quotes. Empty without validators; a
    /// malformed validator is left out.
    public var validators: HTTPFields {
        var conditions = HTTPFields()
        if let text = fields[.eTag], EntityTag(received: text) != nil {
            append(.eTag, as: .ifNoneMatch, to: &conditions)
        }
        if let text = fields[.lastModified], HTTPDate(parsing: text, now: receivedAt) != nil {
            append(.lastModified, as: .ifModifiedSince, to: &conditions)
        }
        return conditions
    }

    /// Whether a 304 with these fields refers to this response. False if both have an entity tag and the tags differ
    /// (RFC 9111 §4.3.4): then the origin must be asked again, without conditions.
    public func isConfirmed(by fields: HTTPFields) -> Bool {
        guard let received = fields[.eTag].flatMap(EntityTag.init(received:)),
            let stored = self.fields[.eTag].flatMap(EntityTag.init(received:))
        else { return true }
        return received.weaklyEquals(stored)
    }

    /// The response after a 304 has validated it (RFC 9111 §3.2, §4.3.4).
    ///
    /// The 304's fields replace stored fields of the same name, and a soft purge ends. The old `Age` and `Date` are
    /// removed even if the 304 has none, since they describe the time of the older response.
    public func freshened(
        by fields: HTTPFields, sent: HTTPFields, requestedAt: Date, receivedAt: Date
    ) -> StoredResponse {
        let replaced = Set(fields.map(\.name)).union([.age, .date])
        let merged = HTTPFields(self.fields.filter { !replaced.contains($0.name) } + fields)
        return StoredResponse(
            status: status, fields: merged, sent: sent, requestedAt: requestedAt, receivedAt: receivedAt)
    }

    /// Copies a field under another name. A new field would need a value of valid UTF-8, which the copied value need
    /// not be.
    private func append(_ name: HTTPField.Name, as condition: HTTPField.Name, to conditions: inout HTTPFields) {
        guard var field = fields[fields: name].first else { return }
        field.name = condition
        conditions.append(field)
    }
}
