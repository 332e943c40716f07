package import DarkroomNetwork
import HTTPTypes
package import Hummingbird
package import Logging
import NIOCore
import Synchronization

/// The context of a request: its id, its client, and what its endpoint adds to the access log.
package struct ServerRequestContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The client's own id if it is valid, otherwise a practically unique id.
    package private(set) var requestID: String
    /// The client's address without a port; nil when unknown. Before ``identifyClient(trusting:_:)`` it is the peer's
    /// address.
    package private(set) var clientAddress: IPAddress?
    /// The key of the client in limits: an IPv4 address or an IPv6 /64 network; empty when unknown.
    package var client: String { clientAddress?.clientName ?? "" }
    /// What the endpoint adds to the access log's entry. Copies of the context share it.
    package var logDetails: AccessLogDetails {
        get { reported.details.withLock(\.self) }
        nonmutating set { reported.details.withLock { $0 = newValue } }
    }
    private let reported = Reported()
    /// The connection; nil = the request came in another way.
    private var channel: (any Channel)?

    package init(source: ApplicationRequestContextSource) {
        self.init(
            logger: source.logger, requestID: "\(RequestID())", clientAddress: source.channel.peerAddress)
        channel = source.channel
    }

    package init(logger: Logger, requestID: String, clientAddress: IPAddress?) {
        coreContext = CoreRequestContextStorage(source: LoggerSource(logger: logger))
        self.requestID = requestID
        self.clientAddress = clientAddress
    }

    /// Asks the client for the body of the request, if it waits to be asked (RFC 9110 §10.1.1). To be called before
    /// the body is read; without it, such a client sends its body late or never, and the connection closes.
    package func continueRequest() {
        channel?.triggerUserOutboundEvent(ContinueRequest(), promise: nil)
    }

    /// Whether the client is on this machine: the listener is bound to a loopback address, and neither a field of the
    /// request nor the name that it has for the server shows a proxy in between.
    package func isLocal(_ request: HTTPRequest) -> Bool {
        guard let bound = channel?.parent?.localAddress?.ipAddress.flatMap({ IPAddress($0) }), bound.isLoopback,
            !request.headerFields.contains(where: { Self.proxyFields.contains($0.name) }),
            let authority = request.authority, let url = try? SourceURL(parsing: "http://\(authority)/")
        else { return false }
        return url.host?.isLoopback == true
    }

    /// The fields that proxies add to requests.
    private static let proxyFields: Set<HTTPField.Name> = [
        .forwarded, .xForwardedFor, .known("X-Forwarded-Host"), .known("X-Forwarded-Proto"), .known("X-Real-IP"), .via,
    ]

    /// Replaces the address of a trusted proxy with the address of the proxy's client.
    mutating func identifyClient(trusting proxies: TrustedProxies, _ fields: HTTPFields) {
        clientAddress = clientAddress.map { proxies.client(of: $0, fields) }
    }

    /// Adopts `X-Request-Id`, so that a request has the same id in all systems. The id appears in logs, header fields
    /// and URNs, so it must be 1 to 128 ASCII letters, digits, dots, hyphens and underscores; any other id is ignored.
    mutating func adoptRequestID(from fields: HTTPFields) {
        requestID = fields[.requestID].flatMap(Self.validRequestID) ?? requestID
    }

    /// Nil for an invalid id.
    static func validRequestID(_ id: String) -> String? {
        (1...128).contains(id.utf8.count) && id.utf8.allSatisfy(\.isPlainNameCharacter) ? id : nil
    }

    private final class Reported: Sendable {
        let details = Mutex(AccessLogDetails.none)
    }

    private struct LoggerSource: RequestContextSource {
        let logger: Logger
    }
}
