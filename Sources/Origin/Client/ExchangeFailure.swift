import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Why one exchange at one address failed, and whether another attempt makes sense.
struct ExchangeFailure: Error, Equatable {
    enum Recovery {
        case none
        /// The same address may do better: the connection was reset before a byte of response.
        case retry
        /// Another address of the name may do better: this one could not be connected to.
        case nextAddress
    }

    let error: OriginError
    let recovery: Recovery

    init(_ error: OriginError, recovery: Recovery = .none) {
        self.error = error
        self.recovery = recovery
    }

    /// Reads the cause out of what the HTTP client threw.
    ///
    /// - Parameters:
    ///   - requestSent: whether the request's head went out, so that a connection did exist.
    ///   - headReceived: whether the response's head came in.
    init(_ thrown: any Error, requestSent: Bool, headReceived: Bool) {
        switch thrown {
        case is UnvettedPeer:
            self.init(.notAllowed(.address))
        case is CancellationError:
            self.init(.cancelled)
        case let error as HTTPClientError where [.cancelled, .alreadyShutdown].contains(error):
            self.init(.cancelled)
        case let error as HTTPClientError where [.connectTimeout, .getConnectionFromPoolTimeout].contains(error):
            self.init(.timedOut, recovery: .nextAddress)
        case let error as HTTPClientError where error == .tlsHandshakeTimeout:
            self.init(.timedOut)
        case _ where headReceived:
            self.init(.unreachable(.reset))
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            self.init(.unreachable(requestSent ? .reset : .tls))
        case is HTTPParserError:
            self.init(.unreachable(.malformed))
        case _ where Self.isReset(thrown, requestSent: requestSent):
            self.init(.unreachable(.reset), recovery: .retry)
        default:
            self.init(
                .unreachable(requestSent ? .reset : .connect), recovery: requestSent ? .none : .nextAddress)
        }
    }

    /// Whether the peer hung up on an open connection, which is also what the server of a pooled connection does when
    /// its patience ran out just before we used it.
    private static func isReset(_ error: any Error, requestSent: Bool) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as ChannelError: error == .ioOnClosedChannel || error == .alreadyClosed
        case let error as IOError: requestSent && [ECONNRESET, EPIPE].contains(error.errnoCode)
        default: false
        }
    }
}

/// A connection came out at another address than the vetted one.
struct UnvettedPeer: Error {}
