import AsyncHTTPClient
import DarkroomHTTPClient
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Why one exchange failed, and whether another attempt is useful.
struct TransportFailure: Error, Equatable {
    let error: ObjectStorageError
    /// Whether the connection was reset, so that the store may not have seen the request.
    let isReset: Bool

    init(_ stage: ObjectStorageError.Stage) {
        self.init(.unreachable(stage), isReset: stage == .reset || stage == .incomplete)
    }

    init(_ error: ObjectStorageError, isReset: Bool = false) {
        self.error = error
        self.isReset = isReset
    }

    /// Classifies an error of the HTTP client.
    init(_ thrown: any Error, isInBody: Bool) {
        switch thrown {
        case is CancellationError:
            self.init(.canceled)
        case let error as HTTPClientError where [.cancelled, .alreadyShutdown].contains(error):
            self.init(.canceled)
        case let error as HTTPClientError where [.connectTimeout, .getConnectionFromPoolTimeout].contains(error):
            self.init(.connect)
        case let error as HTTPClientError where error == .tlsHandshakeTimeout:
            self.init(.tls)
        case ResponseParser.Failure.malformed:
            self.init(.malformed)
        case _ where isInBody:
            self.init(.incomplete)
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            self.init(CertificateFailure.matches(thrown) ? .certificate : .tls)
        case let error as NIOConnectionError:
            self.init(Self.stage(of: error))
        case let error as IOError where error.errnoCode == ECONNREFUSED:
            self.init(.refused)
        case _ where Self.isReset(thrown):
            self.init(.reset)
        default:
            self.init(.connect)
        }
    }

    /// Whether the peer closed an open connection. Servers also close pooled connections that were idle too long,
    /// possibly just before their next use.
    private static func isReset(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as ChannelError: [.ioOnClosedChannel, .alreadyClosed, .eof].contains(error)
        case let error as IOError: [ECONNRESET, EPIPE].contains(error.errnoCode)
        case let error as ResponseParser.Failure: error == .incomplete
        default: false
        }
    }

    private static func stage(of error: NIOConnectionError) -> ObjectStorageError.Stage {
        if error.connectionErrors.contains(where: { ($0.error as? IOError)?.errnoCode == ECONNREFUSED }) {
            return .refused
        }
        return error.connectionErrors.isEmpty && (error.dnsAError != nil || error.dnsAAAAError != nil)
            ? .dns : .connect
    }
}

/// Failures of TLS handshakes that are the fault of the peer's certificate.
package enum CertificateFailure {
    /// Whether a handshake failed because of the peer's certificate. NIOSSL has no error for failed verification, only
    /// a name on BoringSSL's error stack.
    package static func matches(_ error: any Error) -> Bool {
        switch error {
        case NIOSSLError.handshakeFailed(.sslError(let stack)):
            stack.contains { $0.description.contains("CERTIFICATE_VERIFY_FAILED") }
        case NIOSSLError.noCertificateToValidate, NIOSSLError.unableToValidateCertificate: true
        case let error as NIOSSLExtraError:
            error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch
        default: false
        }
    }
}
