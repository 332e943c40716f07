import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
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
            self.init(.timedOut(.connecting), recovery: .nextAddress)
        case let error as HTTPClientError where error == .tlsHandshakeTimeout:
            self.init(.timedOut(.connecting))
        case let error as HTTPParserError where !(headReceived && error == .invalidEOFState):
            self.init(.unreachable(.malformed))
        case _ where headReceived:
            self.init(.unreachable(.incomplete))
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            self.init(.unreachable(requestSent ? .reset : Self.isAboutCertificate(thrown) ? .certificate : .tls))
        case _ where Self.isReset(thrown, requestSent: requestSent):
            self.init(.unreachable(.reset), recovery: .retry)
        case _ where requestSent:
            self.init(.unreachable(.reset))
        default:
            self.init(.unreachable(Self.isRefusal(thrown) ? .refused : .connect), recovery: .nextAddress)
        }
    }

    /// Whether a handshake failed for the peer's certificate. NIOSSL gives verification no error of its own, only a name
    /// on BoringSSL's stack of errors.
    private static func isAboutCertificate(_ error: any Error) -> Bool {
        switch error {
        case NIOSSLError.handshakeFailed(.sslError(let stack)):
            stack.contains { $0.description.contains("CERTIFICATE_VERIFY_FAILED") }
        case NIOSSLError.noCertificateToValidate, NIOSSLError.unableToValidateCertificate: true
        case let error as NIOSSLExtraError:
            error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch
        default: false
        }
    }

    /// Whether the host answered the attempt to connect with a reset.
    private static func isRefusal(_ error: any Error) -> Bool {
        switch error {
        case let error as IOError: error.errnoCode == ECONNREFUSED
        case let error as NIOConnectionError:
            error.connectionErrors.contains { ($0.error as? IOError)?.errnoCode == ECONNREFUSED }
        default: false
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
