import DarkroomNetwork
public import Foundation
public import HTTPTypes

/// A response as a cache stores it: the fields that matter to caching, the request fields that selected it, and when it
/// was received.
public struct StoredResponse: Hashable, Sendable {
    /// The status code as received.
    public var status: Int
    /// The fields of ``storedFieldNames``, as received.
    public var fields: HTTPFields
    /// The fields of the request to the origin that `Vary` names, as sent.
    public var requestFields: HTTPFields
    /// When the request was sent: `request_time` of RFC 9111 §4.2.3.
    public var requestedAt: Date
    /// When the response head arrived: `response_time` of RFC 9111 §4.2.3.
    public var receivedAt: Date
    /// The time from which a soft purge makes the response stale, whatever its fields say. Nil without a purge.
    public var staleSince: Date?

    /// The names of the response fields that are stored. Caching uses only these fields.
    public static let storedFieldNames: Set<HTTPField.Name> = [
        .age, .cacheControl, .cacheTag, .cdnCacheControl, .contentType, .date, .eTag, .expires, .lastModified,
        .retryAfter, .surrogateKey, .vary,
    ]

    /// Keeps the fields of ``storedFieldNames``, and the fields of the sent request that `Vary` names.
    public init(status: Int, fields: HTTPFields, sent: HTTPFields, requestedAt: Date, receivedAt: Date) {
        self.status = status
        self.fields = HTTPFields(fields.filter { Self.storedFieldNames.contains($0.name) })
        requestFields = HTTPFields()
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        requestFields = selectingFields(of: sent)
    }

    /// The members of a list field, or nil without the field.
    static func members(of value: String?) -> [Substring]? { value.map { $0[...].plainListMembers } }

    /// Whether the status is known to mean a complete image, so that it may be fresh although the origin states nothing
    /// (RFC 9110 §15.1).
    var isHeuristicallyCacheable: Bool { status == 200 || status == 203 }

    /// Whether a shared cache may store the response (RFC 9111 §3): its status has a complete image, and neither
    /// `no-store`, nor `private`, nor `must-understand` with a status other than 200 and 203 forbids it.
    ///
    /// `CDN-Cache-Control` takes precedence over `Cache-Control` (RFC 9213). If the policy ignores origins, only the
    /// status counts.
    public func mayBeStored(_ policy: FreshnessPolicy) -> Bool {
        guard (200...299).contains(status), !(204...206).contains(status) else { return false }
        guard policy.respectsOrigin else { return true }
        let directives = OriginCachePolicy(fields).directives
        return !directives.forbidStoring && !directives.isPrivate
            && (!directives.mustUnderstand || isHeuristicallyCacheable)
    }
}

extension StoredResponse {
    /// Whether this response may answer a request that would be sent with these fields (RFC 9111 §4.1).
    ///
    /// False if `Vary` contains `*` or an invalid field name. Values are compared as lists, so that blanks and the
    /// division into lines do not matter.
    public func isSelected(bySending fields: HTTPFields) -> Bool {
        guard self.fields.contains(.vary) else { return true }
        return varyMembers.allSatisfy { text in
            guard text != "*", let name = HTTPField.Name(String(text)) else { return false }
            let (sent, presented) = (requestFields[name], fields[name])
            return sent == presented || Self.members(of: sent) == Self.members(of: presented)
        }
    }

    /// Whether `Vary` contains `*`, so that only the origin can select the response.
    var variesByAnything: Bool { varyMembers.contains("*") }

    private func selectingFields(of sent: HTTPFields) -> HTTPFields {
        let names = Set(varyMembers.compactMap { HTTPField.Name(String($0)) })
        return names.isEmpty ? HTTPFields() : HTTPFields(sent.filter { names.contains($0.name) })
    }

    /// The most bytes of `Vary` that are compared with each request. A longer field counts as `*`.
    private static let maxVaryBytes = 1024

    private var varyMembers: [Substring] {
        guard let value = fields[.vary] else { return [] }
        return value.utf8.count <= Self.maxVaryBytes ? value[...].plainListMembers : ["*"]
    }
}

extension StoredResponse {
    /// The tags that the response can be purged by: the members of `Surrogate-Key`, separated by blanks, and of
    /// `Cache-Tag`, separated by commas.
    ///
    /// Unique, in the order received. At most 128 tags of at most 256 bytes and 8 KiB in all, since they are stored
    /// with every image, however small.
    public var tags: [String] { allTags.kept }

    /// The tags beyond these limits, each once: nothing can be purged by them.
    package var tagsLeftOut: [String] { allTags.leftOut }

    private var allTags: (kept: [String], leftOut: [String]) {
        var (kept, leftOut): ([String], [String]) = ([], [])
        var seen: Set<Substring> = []
        var remainingBytes = Self.maxTagBytesInAll
        func add(_ members: [Substring]) {
            for tag in members where seen.insert(tag).inserted {
                if kept.count < Self.maxTags, tag.utf8.count <= min(Self.maxTagBytes, remainingBytes) {
                    kept.append(String(tag))
                    remainingBytes -= tag.utf8.count
                } else {
                    leftOut.append(String(tag))
                }
            }
        }
        // Joined lines would have commas between them, which are part of a key in this field.
        for line in fields[values: .surrogateKey] {
            add(line.utf8.split(whereSeparator: \.isBlank).map(Substring.init))
        }
        add(Self.members(of: fields[.cacheTag]) ?? [])
        return (kept, leftOut)
    }

    private static let maxTags = 128
    private static let maxTagBytes = 256
    private static let maxTagBytesInAll = 8 << 10
}

extension HTTPField.Name {
    /// `CDN-Cache-Control` (RFC 9213).
    static let cdnCacheControl = known("CDN-Cache-Control")
    /// `Surrogate-Key`: purge tags, separated by blanks (W3C Edge Architecture Specification).
    static let surrogateKey = known("Surrogate-Key")
    /// `Cache-Tag`: purge tags, separated by commas.
    static let cacheTag = known("Cache-Tag")
}
