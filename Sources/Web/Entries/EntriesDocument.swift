import DarkroomPipeline
import Foundation
import HTTPTypes

/// What is cached of one source, as it is sent. What is not known is left out.
struct EntriesDocument: Encodable {
    let url: String
    let source: String
    let contentDigest: String?
    /// RFC 3339.
    let fetched: String?
    let remainingSeconds: Double?
    /// What the origin said of caching and validation, by names in lower case.
    let origin: [String: String]?
    let entries: [EntryDocument]

    enum CodingKeys: String, CodingKey {
        case url, source, fetched, origin, entries
        case contentDigest = "content_sha256"
        case remainingSeconds = "remaining_seconds"
    }

    init(_ entries: SourceEntries) {
        url = entries.url
        source = entries.key
        contentDigest = entries.record?.contentDigest
        fetched = entries.record?.fetchedAt.formatted(.iso8601)
        remainingSeconds = entries.record?.remaining.inSeconds
        origin = entries.record.map { record in
            Dictionary(record.originFields.map { ($0.name.canonicalName, $0.value) }) { "\($0), \($1)" }
        }
        self.entries = entries.entries.map { EntryDocument($0) }
    }
}
