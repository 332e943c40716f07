import NIOSSL

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
