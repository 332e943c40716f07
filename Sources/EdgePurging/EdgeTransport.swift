import AsyncHTTPClient
import DarkroomHTTPCaching
import DarkroomHTTPClient
import DarkroomWaiting
import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// Why a request to an edge has no answer. Texts have neither header fields nor URLs, which may be secret.
struct EdgeTransportFailure: Error, Equatable {
    let reason: String
}

protocol EdgeTransport: Sendable {
    func send(_ request: EdgeRequest) async throws(EdgeTransportFailure) -> EdgeAnswer

    /// Closes connections. Nothing is sent afterward.
    func shutdown() async
}

/// Sends requests over HTTP/1.1. Edges are the operator's own, so they may have private addresses.
final class HTTPEdgeTransport: EdgeTransport {
    /// The most bytes that are received of an answer.
    static let maxAnswerBytes = 64 << 10
    /// The limit of a whole exchange.
    static let timeout = Duration.seconds(10)

    private let client: HTTPClient
    private let timer: DeadlineTimer
    private let userAgent: String

    /// The clock measures the limit of an exchange. The event loop group is not shut down here.
    init(userAgent: String, clock: any Clock<Duration>, eventLoopGroup: any EventLoopGroup) {
        var configuration = HTTPClient.Configuration.exact(timeout: .init(connect: .seconds(5)))
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .shared(eventLoopGroup), configuration: configuration)
        timer = DeadlineTimer(Self.timeout, clock: clock)
        self.userAgent = userAgent
    }

    deinit {
        // A client that is not shut down ends the process. No caller could handle an error.
        client.shutdown { _ in }
    }

    func send(_ request: EdgeRequest) async throws(EdgeTransportFailure) -> EdgeAnswer {
        var message = HTTPClientRequest(HTTPMethod(rawValue: request.method), exactly: request.url)
        message.headers.add(contentsOf: request.fields)
        message.headers.add(name: "User-Agent", value: userAgent)
        if !request.body.isEmpty { message.body = .bytes(ByteBuffer(string: request.body)) }
        let expired = EdgeTransportFailure(
            reason: "it did not answer within \(Int(Self.timeout / .seconds(1))) seconds")
        return try await withDeadline(timer, expired: expired) { [message] () async throws(EdgeTransportFailure) in
            try await self.exchange(message)
        }
    }

    private func exchange(_ message: HTTPClientRequest) async throws(EdgeTransportFailure) -> EdgeAnswer {
        do {
            let response = try await client.execute(message, deadline: .distantFuture)
            var answer = EdgeAnswer(
                status: Int(response.status.code), fields: HTTPFields(received: response.headers))
            // The rest of a longer answer is not received: the connection is closed.
            do { answer.body = try await response.body.collect(upTo: Self.maxAnswerBytes) } catch {
                guard error is NIOTooManyBytesError else { throw error }
                answer.body = nil
            }
            return answer
        } catch {
            throw EdgeTransportFailure(reason: "it cannot be reached, or the connection was lost")
        }
    }

    func shutdown() async { try? await client.shutdown() }
}

/// Logs the first failure and the end of each outage of an edge, and nothing in between.
final class EdgeOutageLog: Sendable {
    private let logger: Logger
    private let failing = Mutex<Set<String>>([])

    init(_ logger: Logger) { self.logger = logger }

    func record(_ verdict: EdgeVerdict, _ edge: String) {
        switch verdict {
        case .told: record(true, edge, reason: "")
        case .postponed(_, let reason), .refused(let reason): record(false, edge, reason: reason)
        }
    }

    /// Records the result of an edge, or of another thing that can fail. The reason must not contain secrets.
    func record(_ succeeded: Bool, _ name: String, reason: String) {
        let isNews = failing.withLock { failing in
            succeeded ? failing.remove(name) != nil : failing.insert(name).inserted
        }
        guard isNews else { return }
        if succeeded {
            logger.info("an edge confirms purges again", metadata: ["edge": "\(name)"])
        } else {
            logger.warning(
                "an edge did not confirm a purge, which stays in the queue",
                metadata: ["edge": "\(name)", "reason": "\(reason)"])
        }
    }
}
