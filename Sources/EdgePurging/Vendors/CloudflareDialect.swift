import DarkroomHTTPCaching
import Foundation
import NIOCore

/// Purges by tag of a Cloudflare zone: https://developers.cloudflare.com/api/resources/cache/methods/purge/
///
/// A purge removes in any case: the API has no soft one.
struct CloudflareDialect: EdgeDialect {
    let destination: EdgeDestination

    /// The operations of a request: https://developers.cloudflare.com/cache/how-to/purge-cache/
    var maxPurges: Int { 100 }
    var tagField: TagField? { .cloudflare }

    private struct Body: Encodable {
        let tags: [String]
    }

    private struct Answer: Decodable {
        let success: Bool
    }

    func request(for purges: [EdgePurge], tags: [String], round: Int, secret: String, at now: Date) -> EdgeRequest {
        EdgeRequest(
            method: "POST", url: "\(destination.url)/zones/\(destination.account)/purge_cache",
            fields: [("Authorization", "Bearer \(secret)"), ("Content-Type", "application/json")],
            body: Body(tags: tags).json)
    }

    func confirms(_ answer: EdgeAnswer) -> Bool {
        guard let body = answer.body else { return false }
        return (try? JSONDecoder().decode(Answer.self, from: Data(body.readableBytesView)))?.success == true
    }
}
