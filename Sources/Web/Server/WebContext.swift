import DarkroomNetwork
import DarkroomOrigin
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// What a request carries along besides itself.
struct WebContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The client's own where it sent a sane one, else unique among all requests of all servers, for practical purposes.
    private(set) var requestID: String
    /// The client's address, behind proxies that are trusted, without a port; nil = unknown. Before ``identify(behind:_:)``: where the
    /// connection comes from.
    private(set) var clientAddress: IPAddress?
    /// Whose share a request counts for: the address, or an IPv6 address's network of 64 bits; "" = nobody knows.
    var client: String { clientAddress?.clientName ?? "" }

    /// Takes over the id that the server's own log lines carry; log handlers that keep no metadata have none.
    init(source: ApplicationRequestContextSource) {
        let logged = source.logger[metadataKey: "hb.request.id"].map { "\($0)" }
        self.init(
            logger: source.logger, requestID: logged ?? "\(RequestID())",
            clientAddress: source.channel.remoteAddress?.ipAddress.flatMap(IPAddress.init))
    }

    init(logger: Logger, requestID: String, clientAddress: IPAddress?) {
        coreContext = CoreRequestContextStorage(source: LoggerSource(logger: logger))
        self.requestID = requestID
        self.clientAddress = clientAddress
    }

    /// Finds out who asks, where the connection comes from a proxy.
    mutating func identify(behind proxies: TrustedProxies, _ fields: HTTPFields) {
        clientAddress = clientAddress.map { proxies.client(of: $0, fields) }
    }

    /// Takes over `X-Request-Id`, so that a request has one id wherever it comes through. Anything but 1 to 128 letters and
    /// digits of ASCII, dots, hyphens and underscores is not taken: the id stands in logs, header fields and URNs.
    mutating func takeOverID(from fields: HTTPFields) {
        guard let id = fields[.requestID], (1...128).contains(id.utf8.count), id.utf8.allSatisfy(\.isPlainNameCharacter)
        else {
            return
        }
        requestID = id
    }

    private struct LoggerSource: RequestContextSource {
        let logger: Logger
    }
}
