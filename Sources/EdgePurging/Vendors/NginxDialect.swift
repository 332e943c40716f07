import Foundation

/// Sends `PURGE` to one URL of an nginx, whatever the purges are of: nginx knows no tags, and replaces what
/// is part of all its cache keys; see `docs/cdn.md`.
struct NginxDialect: EdgeDialect {
    let destination: EdgeDestination

    var maxPurges: Int { 1_000 }
    var maxTagBytes: Int { .max }

    func request(for purges: [EdgePurge], tags: [String], round: Int, secret: String, at now: Date) -> EdgeRequest {
        var request = EdgeRequest(method: "PURGE", url: destination.url)
        if !secret.isEmpty { request.fields.append(("Authorization", "Bearer \(secret)")) }
        return request
    }
}
