import DarkroomHTTPServer
import DarkroomPipeline
import Foundation
import HTTPTypes
import Hummingbird

/// `GET /cache/entries`: the cached entries of one source.
struct EntriesEndpoint: Sendable {
    /// The entries of a request's source; the rest of the request is ignored.
    let entries: @Sendable (ImageRequest) async -> SourceEntries

    var routes: [Route] {
        [Route("/cache/entries") { request, _ throws(Problem) in try await respond(to: request) }]
    }

    func respond(to request: Request) async throws(Problem) -> Response {
        try request.requireParsableTarget()
        return .json(EntriesDocument(await entries(try imageRequest(of: request))))
    }

    /// The parameters of a query.
    struct Draft: Sendable {
        var url: String?
    }

    static let grammar = ParameterTable<Draft>([Parameter("url", .url) { $0.url = $1 }])

    private func imageRequest(of request: Request) throws(Problem) -> ImageRequest {
        var draft = Draft()
        do throws(InvalidParameter) {
            try Self.grammar.read(request.uri.query ?? "", into: &draft)
        } catch {
            throw Problem(error)
        }
        guard let url = draft.url else {
            throw Problem(
                .invalidParameter, "Parameter 'url' is required: the percent-encoded URL of the source image.",
                parameter: "url")
        }
        return try ImageRequest(url, givenAs: "url")
    }
}

/// The cached entries of one source as JSON. Unknown values are omitted.
struct EntriesDocument: Encodable {
    let url: String
    let source: String
    let contentDigest: String?
    /// RFC 3339.
    let fetched: String?
    let remainingSeconds: Double?
    /// The origin's caching and validation fields by lower-case name.
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
