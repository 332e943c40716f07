import AsyncHTTPClient
import DarkroomHTTPClient
import DarkroomObjectStorage
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Why one request to one address failed, and whether another attempt is useful.
struct ExchangeFailure: Error, Equatable {
    enum Recovery {
        /// Another attempt would fail too.
        case none
        /// Retry the same address: the connection was reset before the first byte of the response, or the response is
        /// a 408, which a server sends on a pooled connection that was idle too long (RFC 9110 §15.5.9).
        case retry
        /// Try the next address of the name: connecting to this address failed.
        case nextAddress
    }

    let error: OriginError
    let recovery: Recovery

    init(_ error: OriginError, recovery: Recovery = .none) {
        self.error = error
        self.recovery = recovery
    }

    /// Classifies an error of the HTTP client.
    ///
    /// - Parameter requestSent: whether the request head was sent, so that a connection existed.
    init(_ thrown: any Error, requestSent: Bool, headReceived: Bool) {
        switch thrown {
        case is UnvettedPeer, is UnvettedRequest:
            self.init(.notAllowed(.address))
        case is CancellationError, is ByteReservation.Closed:
            self.init(.cancelled)
        case let error as HTTPClientError where [.cancelled, .alreadyShutdown].contains(error):
            self.init(.cancelled)
        case let error as HTTPClientError where [.connectTimeout, .getConnectionFromPoolTimeout].contains(error):
            self.init(.timedOut(.connecting), recovery: .nextAddress)
        case let error as HTTPClientError where error == .tlsHandshakeTimeout:
            self.init(.timedOut(.connecting))
        case let error as ResponseParser.Failure where error == .malformed || !headReceived:
            self.init(.unreachable(.malformed))
        case _ where headReceived:
            self.init(.unreachable(.incomplete))
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            self.init(.unreachable(requestSent ? .reset : CertificateFailure.matches(thrown) ? .certificate : .tls))
        case _ where Self.isReset(thrown, requestSent: requestSent):
            self.init(.unreachable(.reset), recovery: .retry)
        case _ where requestSent:
            self.init(.unreachable(.reset))
        default:
            self.init(.unreachable(Self.isRefusal(thrown) ? .refused : .connect), recovery: .nextAddress)
        }
    }

    private static func isRefusal(_ error: any Error) -> Bool {
        switch error {
        case let error as IOError: error.errnoCode == ECONNREFUSED
        case let error as NIOConnectionError:
            error.connectionErrors.contains { ($0.error as? IOError)?.errnoCode == ECONNREFUSED }
        default: false
        }
    }

    /// Whether the peer closed an open connection. Servers also close pooled connections that were idle too long,
    /// possibly just before their next use.
    private static func isReset(_ error: any Error, requestSent: Bool) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as ChannelError: error == .ioOnClosedChannel || error == .alreadyClosed
        case let error as IOError: requestSent && [ECONNRESET, EPIPE].contains(error.errnoCode)
        default: false
        }
    }
}

/// A connection reached another address than the vetted one.
struct UnvettedPeer: Error {}
