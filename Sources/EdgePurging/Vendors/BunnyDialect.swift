import DarkroomHTTPCaching
import Foundation

/// Purges by tag of a pull zone of bunny.net, one tag in a request: https://docs.bunny.net/cdn/purge-cache
struct BunnyDialect: EdgeDialect {
    let destination: EdgeDestination

    var maxPurges: Int { 1 }
    var tagField: TagField? { .bunny }

    private struct Body: Encodable {
        let tag: String

        enum CodingKeys: String, CodingKey { case tag = "CacheTag" }
    }

    func request(for purges: [EdgePurge], tags: [String], round: Int, secret: String, at now: Date) -> EdgeRequest {
        // Without a tag, the API would empty the whole pull zone.
        EdgeRequest(
            method: "POST", url: "\(destination.url)/pullzone/\(destination.account)/purgeCache",
            fields: [("AccessKey", secret), ("Content-Type", "application/json")],
            body: Body(tag: tags.first ?? "").json)
    }
}
