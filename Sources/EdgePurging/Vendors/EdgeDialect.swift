import DarkroomHTTPCaching
import Foundation
import HTTPTypes
import NIOCore

/// A request to an edge.
struct EdgeRequest: Equatable {
    var method: String
    var url: String
    /// Include the token, so they are never logged.
    var fields: [(name: String, value: String)] = []
    var body = ""

    static func == (left: EdgeRequest, right: EdgeRequest) -> Bool {
        left.method == right.method && left.url == right.url && left.body == right.body
            && left.fields.map(\.name) == right.fields.map(\.name)
            && left.fields.map(\.value) == right.fields.map(\.value)
    }
}

/// An edge's answer.
struct EdgeAnswer {
    var status: Int
    var fields: HTTPFields = [:]
    /// At most ``HTTPEdgeTransport/maxAnswerBytes``; nil if there was more.
    var body: ByteBuffer? = ByteBuffer()
}

/// What an answer means for the purges that were told.
enum EdgeVerdict: Equatable {
    case told
    /// The edge takes no purges for the time being.
    ///
    /// - Parameter delay: how long it asks to wait; nil if it does not say.
    case postponed(for: Duration? = nil, reason: String)
    /// The edge does not take these purges. Others may succeed.
    case refused(reason: String)
}

/// How one kind of edge is told of purges.
protocol EdgeDialect: Sendable {
    /// The most purges in a request.
    var maxPurges: Int { get }
    /// The most bytes of all tags in a request.
    var maxTagBytes: Int { get }
    /// The field from which the edge has tags; nil = tags of any form.
    var tagField: TagField? { get }

    /// - Parameters:
    ///   - purges: at least one, all of them soft or none.
    ///   - tags: their tags, each once and each acceptable to ``tagField``.
    ///   - round: 1 for the first request about these purges.
    ///   - secret: the text of the destination's file; empty without one.
    func request(for purges: [EdgePurge], tags: [String], round: Int, secret: String, at now: Date) -> EdgeRequest

    /// Whether an answer with status 200 to 299 confirms the purge.
    func confirms(_ answer: EdgeAnswer) -> Bool
}

extension EdgeDialect {
    var maxTagBytes: Int { 4 << 10 }
    var tagField: TagField? { nil }
    func confirms(_ answer: EdgeAnswer) -> Bool { true }

    func verdict(on answer: EdgeAnswer, now: Date) -> EdgeVerdict {
        switch answer.status {
        case 200...299:
            confirms(answer) ? .told : .refused(reason: "status \(answer.status), but the answer confirms nothing")
        case 408, 425, 429, 500...599:
            .postponed(
                for: RetryAfter(answer.fields, now: now)?.delay, reason: "it answered with status \(answer.status)")
        default: .refused(reason: "it answered with status \(answer.status)")
        }
    }
}

extension EdgeRequest {
    /// The request with the id of the purge that it follows from.
    func chained(_ id: String?) -> EdgeRequest {
        var request = self
        if let id { request.fields.append((PurgeChain.field.rawName, id)) }
        return request
    }
}

extension EdgeDestination {
    var dialect: any EdgeDialect {
        switch vendor {
        case .cloudflare: CloudflareDialect(destination: self)
        case .fastly: FastlyDialect(destination: self)
        case .bunny: BunnyDialect(destination: self)
        case .varnish: VarnishDialect(destination: self)
        case .nginx: NginxDialect(destination: self)
        case .webhook: WebhookDialect(destination: self)
        }
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
