import DarkroomCache
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomQuery
import DarkroomRequests
import Foundation
import HTTPTypes
import Hummingbird

/// `GET /cache/entries`: the cached entries of one source.
struct EntriesEndpoint: Sendable {
    /// The short names that the source may have.
    var sourceMap = SourceMap()
    /// The entries of a request's source; the rest of the request is ignored.
    let entries: @Sendable (ImageRequest) async -> SourceEntries

    var routes: [Route] {
        [Route("/cache/entries") { request, _ throws(Problem) in try await respond(to: request) }]
    }

    func respond(to request: Request) async throws(Problem) -> Response {
        let url = try requireValid(EntriesGrammar().parse(request.uri.query ?? ""))
        let source = try requireSource(sourceMap.source(url, givenAs: "url").url)
        return .json(EntriesDocument(await entries(ImageRequest(source: source))))
    }
}

/// The cached entries of one source as JSON. Unknown values are omitted.
struct EntriesDocument: Encodable {
    let url: String
    let source: String
    let contentSha256: String?
    /// RFC 3339.
    let fetched: String?
    let remainingSeconds: Double?
    /// The origin's caching and validation fields by lower-case name.
    let origin: [String: String]?
    let entries: [EntryDocument]

    init(_ entries: SourceEntries) {
        url = entries.url
        source = entries.key
        contentSha256 = entries.record?.contentDigest
        fetched = entries.record?.fetchedAt.formatted(.iso8601)
        remainingSeconds = entries.record?.remaining.inSeconds
        origin = entries.record.map { record in
            Dictionary(record.originFields.map { ($0.name.canonicalName, $0.value) }) { "\($0), \($1)" }
        }
        self.entries = entries.entries.map { EntryDocument($0) }
    }
}

/// A cached entry as JSON. Unknown values are omitted.
struct EntryDocument: Encodable {
    let entry: String
    let key: String
    let memory: Bool
    let disk: Bool
    /// Nil if the entry is not in a tier that several servers share.
    let shared: Bool?
    let bytes: Int?
    let ageSeconds: Double?
    let hits: Int?
    let format: String?

    init(_ entry: CachedEntry) {
        self.entry = entry.kind.rawValue
        key = entry.key
        memory = entry.tiers.contains(.memory)
        disk = entry.tiers.contains(.disk)
        shared = entry.tiers.contains(.shared) ? true : nil
        bytes = entry.bytes
        ageSeconds = entry.age?.inSeconds
        hits = entry.hits
        format = entry.format?.rawValue
    }
}
