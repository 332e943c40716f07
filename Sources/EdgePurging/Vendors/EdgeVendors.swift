import DarkroomHTTPCaching
import Foundation
import NIOCore

extension EdgeAPI {
    /// Purges by tag of a Cloudflare zone: https://developers.cloudflare.com/api/resources/cache/methods/purge/
    ///
    /// A purge always removes: the API has no soft purge. A request may have 100 operations:
    /// https://developers.cloudflare.com/cache/how-to/purge-cache/
    static let cloudflare = EdgeAPI(
        url: "https://api.cloudflare.com/client/v4", needsSecret: true, maxPurges: 100, tagField: .cloudflare,
        confirms: { answer in
            struct Document: Decodable { let success: Bool }
            guard let body = answer.body else { return false }
            return (try? JSONDecoder().decode(Document.self, from: Data(body.readableBytesView)))?.success == true
        },
        request: { edge, message in
            EdgeRequest(
                method: "POST", url: "\(edge.url)/zones/\(edge.account)/purge_cache",
                fields: message.bearer + [("Content-Type", "application/json")], body: ["tags": message.tags].json)
        })

    /// Purges by surrogate key of a Fastly service, including soft purges:
    /// https://www.fastly.com/documentation/reference/api/purging/
    static let fastly = EdgeAPI(
        url: "https://api.fastly.com", needsSecret: true, maxPurges: 256, tagField: .fastly
    ) { edge, message in
        EdgeRequest(
            method: "POST", url: "\(edge.url)/service/\(edge.account)/purge",
            fields: [
                ("Fastly-Key", message.secret), ("Accept", "application/json"), ("Content-Type", "application/json"),
            ] + (message.isSoft ? [("fastly-soft-purge", "1")] : []),
            body: ["surrogate_keys": message.tags].json)
    }

    /// Purges by tag of a pull zone of bunny.net, one tag in a request: https://docs.bunny.net/cdn/purge-cache
    static let bunny = EdgeAPI(
        url: "https://api.bunny.net", needsSecret: true, maxPurges: 1, tagField: .bunny
    ) { edge, message in
        // Without a tag, the API would empty the whole pull zone.
        EdgeRequest(
            method: "POST", url: "\(edge.url)/pullzone/\(edge.account)/purgeCache",
            fields: [("AccessKey", message.secret), ("Content-Type", "application/json")],
            body: ["CacheTag": message.tags.first ?? ""].json)
    }

    /// Purges by tag of a Varnish whose VCL passes the field on to the module xkey; see `docs/cdn.md`.
    static let varnish = EdgeAPI(maxPurges: 100, tagField: .xkey) { edge, message in
        EdgeRequest(
            method: "PURGE", url: edge.url,
            fields: [(message.isSoft ? "xkey-softpurge" : "xkey-purge", message.tags.joined(separator: " "))]
                + message.bearer)
    }

    /// Purges by tag of a Varnish whose VCL makes a ban of each request. A ban is never soft.
    static let varnishBan = EdgeAPI(maxPurges: 1, tagField: .xkey) { edge, message in
        EdgeRequest(
            method: "BAN", url: edge.url,
            fields: [("xkey-purge", message.tags.joined(separator: " "))] + message.bearer)
    }

    /// Sends `PURGE` to one URL of nginx, whatever a purge selects: nginx has no tags, and its configuration replaces a
    /// part of all cache keys; see `docs/cdn.md`.
    static let nginx = EdgeAPI(maxPurges: 1_000, maxTagBytes: .max) { edge, message in
        EdgeRequest(method: "PURGE", url: edge.url, fields: message.bearer)
    }
}

extension EdgeMessage {
    /// The secret as a bearer token; empty without one.
    fileprivate var bearer: [(name: String, value: String)] {
        secret.isEmpty ? [] : [("Authorization", "Bearer \(secret)")]
    }
}
