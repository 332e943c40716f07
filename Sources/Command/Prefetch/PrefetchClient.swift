import ArgumentParser
import AsyncHTTPClient
import DarkroomHTTPClient
import DarkroomLoading
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// A prefetch job as the server describes it.
struct PrefetchJobState: Decodable, Equatable, Sendable {
    struct Failure: Decodable, Equatable, Sendable {
        var url: String
        var query: String
        var detail: String
    }

    enum State: String, Decodable {
        case running, done, cancelled
    }

    var id: UUID
    var state: State
    var total: Int
    var done: Int
    var failed: Int
    var bytes: Int
    /// The first ones.
    var failures: [Failure]

    private enum CodingKeys: String, CodingKey { case id, state, total, done, failed, bytes, failures }
}

extension PrefetchJobState {
    /// Refuses counts that no job has: they are added and multiplied, which must not overflow.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(UUID.self, forKey: .id)
        state = try values.decode(State.self, forKey: .state)
        total = try values.decode(Int.self, forKey: .total)
        done = try values.decode(Int.self, forKey: .done)
        failed = try values.decode(Int.self, forKey: .failed)
        bytes = try values.decode(Int.self, forKey: .bytes)
        failures = try values.decode([Failure].self, forKey: .failures)
        guard (0...Prefetcher.maxItems).contains(total), (0...total).contains(done),
            (0...(total - done)).contains(failed), bytes >= 0
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .total, in: values, debugDescription: "No job has such counts.")
        }
    }
}

/// Why a job does not go on.
enum PrefetchFailure: Error, Equatable {
    /// The server cannot be reached, or the connection was lost.
    case connection(String)
    /// The server has refused a request.
    case refused(status: Int, detail: String, member: String?)
    /// The server does not speak as a Darkroom server does.
    case notDarkroom(String)

    /// The failure as a sentence about the server.
    func sentence(_ server: String, hasToken: Bool) -> String {
        switch self {
        case .connection(let reason), .notDarkroom(let reason): return "\(server): \(reason)"
        case .refused(401, _, _) where hasToken:
            return "\(server): the token that was sent is not the server's admin-token."
        case .refused(let status, let detail, _):
            let isAccess = [401, 403].contains(status) && !hasToken
            let hint = isAccess ? " Set DARKROOM_ADMIN_TOKEN, or name a file with \(AdminTokenFile.flag)." : ""
            return "\(server): \(detail)\(hint)"
        }
    }
}

/// The requests of `darkroom prefetch` and `darkroom purge`.
struct PrefetchClient: Sendable {
    private let client: HTTPClient
    /// The base URL, without a trailing slash.
    let server: String
    let token: String?

    /// A client whose connections fail if they are not open after 10 seconds, and after a time of silence, by default
    /// 60 seconds.
    init(server: String, token: String?, silence: TimeAmount = .seconds(60)) {
        var configuration = HTTPClient.Configuration.exact(timeout: .init(connect: .seconds(10), read: silence))
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        self.server = (try? Self.baseURL(server)) ?? server
        self.token = token
    }

    /// The base URL that the option `--server` names.
    static func baseURL(_ server: String) throws(ValidationError) -> String {
        do throws(SettingError) { return try SettingKind.webURL.read(server, of: "--server") } catch {
            throw ValidationError(error.description)
        }
    }

    /// Starts a job. The field `Accept` decides on negotiated formats.
    func start(_ body: Data, accept: String?) async throws(PrefetchFailure) -> PrefetchJobState {
        var request = request("/prefetch", .POST)
        request.headers.add(name: "Content-Type", value: "application/json")
        if let accept { request.headers.add(name: "Accept", value: accept) }
        request.body = .bytes(ByteBuffer(bytes: body))
        return try await document(request, expecting: .accepted)
    }

    func state(_ job: UUID) async throws(PrefetchFailure) -> PrefetchJobState {
        try await document(request(path(of: job)), expecting: .ok)
    }

    /// Cancels a job. Failures are ignored: the command ends in any case.
    func cancel(_ job: UUID) async {
        let response = try? await client.execute(request(path(of: job), .DELETE), timeout: .seconds(3))
        _ = try? await response?.body.collect(upTo: Self.maxDocumentBytes)
    }

    func shutdown() async { try? await client.shutdown() }

    private static let maxDocumentBytes = 8 << 20

    private func path(of job: UUID) -> String { "/prefetch/\(job.uuidString.lowercased())" }

    func request(_ path: String, _ method: HTTPMethod = .GET) -> HTTPClientRequest {
        var request = HTTPClientRequest(method, exactly: server + path)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        return request
    }

    /// Sends a request and reads the document of the answer.
    func document<Document: Decodable>(
        _ request: HTTPClientRequest, expecting statuses: HTTPResponseStatus...
    ) async throws(PrefetchFailure) -> Document {
        let response = try await send(request, expecting: statuses)
        do {
            let json = try await response.body.collect(upTo: Self.maxDocumentBytes)
            return try JSONDecoder().decode(Document.self, from: Data(json.readableBytesView))
        } catch is DecodingError {
            throw .notDarkroom("the response is not from a Darkroom server.")
        } catch {
            throw .connection(ConnectionFailure.reason(error))
        }
    }

    /// Sends a request and throws the problem of an unexpected answer.
    private func send(
        _ request: HTTPClientRequest, expecting statuses: [HTTPResponseStatus]
    ) async throws(PrefetchFailure) -> HTTPClientResponse {
        let response: HTTPClientResponse
        do { response = try await client.execute(request, deadline: .distantFuture) } catch {
            throw .connection(ConnectionFailure.reason(error))
        }
        if statuses.contains(response.status) { return response }
        let body = try? await response.body.collect(upTo: 64 << 10)
        let problem = body.flatMap { try? JSONDecoder().decode(Problem.self, from: Data($0.readableBytesView)) }
        throw .refused(
            status: Int(response.status.code), detail: problem?.detail ?? "status \(response.status.code).",
            member: problem?.parameter)
    }

    /// A problem document (RFC 9457).
    private struct Problem: Decodable {
        let detail: String
        let parameter: String?
    }
}

/// Why a server did not answer.
enum ConnectionFailure {
    /// The reason as the end of a sentence, with its period.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { reason($0.error) } ?? "the host name cannot be resolved."
        case let error as IOError: "\(String(cString: strerror(error.errnoCode)))."
        case let error as HTTPClientError where [.deadlineExceeded, .connectTimeout, .readTimeout].contains(error):
            "no response in time."
        case let error as HTTPClientError where error == .remoteConnectionClosed: "the connection was closed."
        default: "\(error)."
        }
    }
}
