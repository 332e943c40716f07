import AsyncHTTPClient
import DarkroomHTTPClient
import DarkroomNetwork
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// An HTTP/1.1 client for stores and sources of credentials: it follows no redirects, decodes nothing, uses no proxy
/// and retries nothing by itself. Canceling the task ends an exchange at once.
final class HTTPTransport: Sendable {
    /// The largest head in bytes, names and values of its fields together.
    private static let maxHeadBytes = 64 << 10

    private let client: HTTPClient

    init(_ configuration: HTTPClient.Configuration, eventLoopGroup: any EventLoopGroup) {
        client = HTTPClient(eventLoopGroupProvider: .shared(eventLoopGroup), configuration: configuration)
    }

    deinit {
        // No caller could handle the error of a connection that failed to close, nor of a client that is shut down.
        client.shutdown { _ in }
    }

    func shutdown() async {
        try? await client.shutdown()
    }

    func send(_ request: HTTPClientRequest) async throws(TransportFailure) -> Answer {
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: .distantFuture)
        } catch {
            throw TransportFailure(error, isInBody: false)
        }
        let headBytes = response.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard headBytes <= Self.maxHeadBytes else { throw TransportFailure(.malformed) }
        return Answer(
            status: Int(response.status.code), fields: HTTPFields(received: response.headers), body: response.body)
    }

    /// The answer to one request. Its connection is closed unless the body is read to its end.
    struct Answer {
        let status: Int
        let fields: HTTPFields
        fileprivate let body: HTTPClientResponse.Body

        /// Passes on the body as it arrives.
        func read(
            _ deliver: (ByteBuffer) async throws(ObjectStorageError) -> Void
        ) async throws(TransportFailure) {
            var parts = body.makeAsyncIterator()
            while true {
                let part: ByteBuffer?
                do { part = try await parts.next() } catch { throw TransportFailure(error, isInBody: true) }
                guard let part else { break }
                guard part.readableBytes > 0 else { continue }
                do throws(ObjectStorageError) { try await deliver(part) } catch { throw TransportFailure(error) }
            }
            // A canceled body may end like a complete one.
            if Task.isCancelled { throw TransportFailure(.canceled) }
        }

        /// The whole body, or nil if it is larger. In that case, its rest is not received.
        func collect(upTo maxBytes: Int) async throws(TransportFailure) -> ByteBuffer? {
            if let length = fields[.contentLength].flatMap(Int.init(digits:)), length > maxBytes { return nil }
            var bytes = ByteBuffer()
            do throws(TransportFailure) {
                try await read { part throws(ObjectStorageError) in
                    guard bytes.readableBytes + part.readableBytes <= maxBytes else {
                        throw .tooLarge(limitBytes: maxBytes)
                    }
                    bytes.writeImmutableBuffer(part)
                }
            } catch {
                guard error.error == .tooLarge(limitBytes: maxBytes) else { throw error }
                return nil
            }
            return bytes
        }
    }
}

extension HTTPClient.Configuration {
    /// The configuration that ``HTTPTransport`` requires.
    ///
    /// - Parameter certificateAuthorities: roots to trust in addition to the system's roots.
    init(
        connectTimeout: Duration, maxConnections: Int, certificateAuthorities: [NIOSSLCertificate] = [],
        addresses: [String: String] = [:]
    ) {
        self = .exact(timeout: .init(connect: TimeAmount(connectTimeout)))
        if !certificateAuthorities.isEmpty {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = [.certificates(certificateAuthorities)]
            tlsConfiguration = tls
        }
        dnsOverride = addresses
        connectionPool.idleTimeout = .seconds(30)
        connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, maxConnections)
        connectionPool.retryConnectionEstablishment = false
    }
}
