import DarkroomHTTPCaching
import Foundation

/// Purges by tag of a Varnish whose VCL passes the field on to its module xkey, or to a ban; see `docs/cdn.md`.
struct VarnishDialect: EdgeDialect {
    let destination: EdgeDestination

    var maxPurges: Int { destination.bans ? 1 : 100 }
    var tagField: TagField? { .xkey }

    func request(for purges: [EdgePurge], tags: [String], round: Int, secret: String, at now: Date) -> EdgeRequest {
        let isSoft = purges.first?.isSoft == true && !destination.bans
        var request = EdgeRequest(
            method: destination.bans ? "BAN" : "PURGE", url: destination.url,
            fields: [(isSoft ? "xkey-softpurge" : "xkey-purge", tags.joined(separator: " "))])
        if !secret.isEmpty { request.fields.append(("Authorization", "Bearer \(secret)")) }
        return request
    }
}
