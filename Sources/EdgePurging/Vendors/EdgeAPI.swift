package import DarkroomHTTPCaching
import Foundation
import HTTPTypes
import NIOCore

struct EdgeRequest {
    var method: String
    var url: String
    /// Contain the token, so they are never logged.
    var fields: [(name: String, value: String)] = []
    var body = ""
}

struct EdgeAnswer {
    var status: Int
    var fields: HTTPFields = [:]
    /// At most ``HTTPEdgeTransport/maxAnswerBytes``; nil if there was more.
    var body: ByteBuffer? = ByteBuffer()
}

/// What an answer means for the purges of its request.
enum EdgeVerdict: Equatable {
    case told
    /// The edge accepts no purges for the time being, or for as long as it says.
    case postponed(for: Duration? = nil, reason: String)
    /// The edge does not take these purges. Others may succeed.
    case refused(reason: String)
}

/// The content of one request to an edge.
struct EdgeMessage {
    /// At least one; all of them soft or none.
    let purges: [EdgePurge]
    /// The tags of the purges, each once and each acceptable to ``EdgeAPI/tagField``.
    let tags: [String]
    /// 1 for the first request about these purges.
    let round: Int
    /// The text of the destination's file; empty without one.
    let secret: String
    let now: Date

    var isSoft: Bool { purges.first?.isSoft == true }
}

/// How purges are sent to the edges of one vendor.
struct EdgeAPI: Sendable {
    /// The base URL of the vendor's API; empty for an edge that is the operator's own.
    var url = ""
    /// Whether requests need a token or a secret.
    var needsSecret = false
    /// The most purges in a request.
    let maxPurges: Int
    /// The most bytes of all tags in a request.
    var maxTagBytes = 4 << 10
    /// The field from which the edge has tags; nil = purges are not by tag.
    var tagField: TagField?
    /// Whether an answer with status 200 to 299 confirms the purge.
    var confirms: @Sendable (EdgeAnswer) -> Bool = { _ in true }
    let request: @Sendable (EdgeDestination, EdgeMessage) -> EdgeRequest

    func verdict(on answer: EdgeAnswer, now: Date) -> EdgeVerdict {
        switch answer.status {
        case 200...299:
            confirms(answer) ? .told : .refused(reason: "status \(answer.status), but the answer confirms nothing")
        case 408, 425, 429, 500...599:
            .postponed(
                for: answer.fields.retryAfter(now: now), reason: "it answered with status \(answer.status)")
        default: .refused(reason: "it answered with status \(answer.status)")
        }
    }
}

extension EdgeDestination.Vendor {
    var api: EdgeAPI {
        switch self {
        case .cloudflare: .cloudflare
        case .fastly: .fastly
        case .bunny: .bunny
        case .varnish: .varnish
        case .nginx: .nginx
        case .webhook: .webhook
        }
    }

    /// The base URL of the vendor's API; empty for an edge that is the operator's own.
    package var interface: String { api.url }
    /// Whether requests need a token or a secret.
    package var needsSecret: Bool { api.needsSecret }
    /// The field from which the edge has tags; nil = purges are not by tag.
    package var tagField: TagField? { api.tagField }
}

extension EdgeDestination {
    var api: EdgeAPI { vendor == .varnish && bans ? .varnishBan : vendor.api }

    /// A request that carries the id of its first purge, by which a purge that follows from it is recognized.
    func request(_ message: EdgeMessage) -> EdgeRequest {
        var request = api.request(self, message)
        if let id = message.purges.first?.id { request.fields.append((HTTPField.Name.purgeChain.rawName, id)) }
        return request
    }
}

extension Encodable {
    /// The value as JSON with sorted members; empty if it cannot be encoded.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
