import DarkroomHTTPCaching
import Foundation

/// Purges by surrogate key of a Fastly service, soft ones too:
/// https://www.fastly.com/documentation/reference/api/purging/
struct FastlyDialect: EdgeDialect {
    let destination: EdgeDestination

    /// The keys of a batch.
    var maxPurges: Int { 256 }
    var tagField: TagField? { .fastly }

    private struct Body: Encodable {
        let keys: [String]

        enum CodingKeys: String, CodingKey { case keys = "surrogate_keys" }
    }

    func request(for purges: [EdgePurge], tags: [String], round: Int, secret: String, at now: Date) -> EdgeRequest {
        var request = EdgeRequest(
            method: "POST", url: "\(destination.url)/service/\(destination.account)/purge",
            fields: [("Fastly-Key", secret), ("Accept", "application/json"), ("Content-Type", "application/json")],
            body: Body(keys: tags).json)
        if purges.first?.isSoft == true { request.fields.append(("fastly-soft-purge", "1")) }
        return request
    }
}
