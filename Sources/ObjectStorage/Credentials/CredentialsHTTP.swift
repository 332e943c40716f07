import AsyncHTTPClient
import DarkroomWaiting
import Foundation
import NIOCore
import NIOHTTP1

/// Requests to sources of credentials. No other code reaches their fixed addresses: the guard of image URLs refuses
/// them.
struct CredentialsHTTP: Sendable {
    private static let maxDocumentBytes = 64 << 10

    private let transport: HTTPTransport
    private let timer: DeadlineTimer

    init(eventLoopGroup: any EventLoopGroup) {
        let configuration = HTTPClient.Configuration(connectTimeout: .seconds(1), maxConnections: 2)
        transport = HTTPTransport(configuration, eventLoopGroup: eventLoopGroup)
        timer = DeadlineTimer(clock: ContinuousClock())
    }

    /// Sends a request and returns the body of a 200, of at most 64 KiB.
    ///
    /// - Parameter limit: the time for the whole exchange.
    func body(
        of request: HTTPClientRequest, for source: CredentialsSource, within limit: Duration
    ) async throws(CredentialsError) -> ByteBuffer {
        let result: (status: Int, body: ByteBuffer?)
        do throws(ObjectStorageError) {
            result = try await withTimeLimit(limit, timer) { [transport] _ throws(ObjectStorageError) in
                do throws(TransportFailure) {
                    let answer = try await transport.send(request)
                    return (answer.status, try await answer.collect(upTo: Self.maxDocumentBytes))
                } catch {
                    throw error.error
                }
            }
        } catch {
            throw error == .canceled ? .canceled : .unreachable(source)
        }
        guard result.status == 200 else { throw .refused(source, status: result.status) }
        guard let body = result.body else { throw .malformed(source) }
        return body
    }

    func shutdown() async { await transport.shutdown() }
}

/// The JSON document with which ECS, EKS and EC2 answer.
struct CredentialsDocument: Decodable {
    private enum CodingKeys: String, CodingKey {
        case accessKey = "AccessKeyId"
        case secretKey = "SecretAccessKey"
        case token = "Token"
        case expiration = "Expiration"
    }

    private let accessKey: String
    private let secretKey: String
    private let token: String
    private let expiration: String

    /// The credentials in a document, which are always temporary.
    static func credentials(
        _ bytes: ByteBuffer, from source: CredentialsSource
    ) throws(CredentialsError) -> Credentials {
        guard let document = try? JSONDecoder().decode(Self.self, from: Data(bytes.readableBytesView)),
            let expiration = Date(iso8601: document.expiration)
        else { throw .malformed(source) }
        return try Credentials(
            accessKey: document.accessKey, secretKey: document.secretKey, sessionToken: document.token,
            expiration: expiration, from: source)
    }
}

extension Date {
    /// A time in UTC as `2026-11-22T10:00:00Z`, with or without fractions of a second.
    init?(iso8601 text: String) {
        let styles = [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)]
        guard let date = styles.lazy.compactMap({ try? $0.parse(text) }).first else { return nil }
        self = date
    }
}
