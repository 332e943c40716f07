import AsyncHTTPClient
import DarkroomNetwork
import DarkroomWeb
import Foundation
import NIOCore
import NIOHTTP1

/// What `darkroom purge` removes: the name of the parameter of `DELETE /cache` and its value.
struct PurgeSelector: Equatable, Sendable {
    enum Kind: String, Sendable { case url, host, prefix, tag }

    let kind: Kind
    let value: String
}

/// A server's answer to a purge.
struct PurgeAnswer: Codable, Equatable, Sendable {
    var sources: Int
    var entries: Int
    var bytes: Int
    var soft: Bool
    /// Seconds until the purge holds on all servers; nil = it holds already.
    var propagation: Int?
    /// The caches in front; nil = the server has none.
    var edges: [EdgeProgress]?

    /// The caches in front that have not confirmed the purge.
    var pending: [EdgeProgress] { edges?.filter { $0.state == .pending } ?? [] }
}

extension PrefetchClient {
    /// Purges what the selector names.
    ///
    /// - Parameter waits: whether the server answers only once all caches have confirmed the purge.
    func purge(_ selector: PurgeSelector, isSoft: Bool, waits: Bool) async throws(PrefetchFailure) -> PurgeAnswer {
        var query = "\(selector.kind.rawValue)=\(PercentEncoding.encode(selector.value))"
        if isSoft { query += "&soft=true" }
        if waits { query += "&wait=true" }
        let response = try await send(request("/cache?\(query)", .DELETE), expecting: .ok)
        do {
            let json = try await response.body.collect(upTo: Self.maxDocumentBytes)
            return try JSONDecoder().decode(PurgeAnswer.self, from: Data(json.readableBytesView))
        } catch is DecodingError {
            throw .notDarkroom("the response is not from a Darkroom server.")
        } catch {
            throw .connection(ConnectionFailure.reason(error))
        }
    }
}
