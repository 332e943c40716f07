import AsyncHTTPClient
import DarkroomHTTPCaching
import DarkroomHTTPClient
import DarkroomNetwork
import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import NIOSSL

/// The reason why one attempt failed, and the remedy to try.
struct AttemptFailure: Error {
    enum Recovery: Equatable {
        /// Another attempt would fail too.
        case none
        /// Try again after a pause of at least the time that the store asked for.
        case retry(after: Duration?)
        /// Sign with the store's time.
        case correctClock(Date)
        /// Sign with other credentials: these have expired.
        case renewCredentials
    }

    let error: ObjectStorageError
    let recovery: Recovery

    init(_ error: ObjectStorageError, recovery: Recovery = .none) {
        self.error = error
        self.recovery = recovery
    }

    /// - Parameter mayRepeat: whether nothing of the answer has been passed on.
    init(_ failure: TransportFailure, mayRepeat: Bool) {
        self.init(failure.error, recovery: failure.isReset && mayRepeat ? .retry(after: nil) : .none)
    }

    /// The largest error document that is read, in bytes.
    static let maxDocumentBytes = 64 << 10

    /// Classifies an answer that is not a success.
    ///
    /// - Parameters:
    ///   - details: the body, if it describes the error.
    ///   - isForeign: whether the body is something else, such as a page.
    ///   - signedAt: the time that the request was signed with.
    init(status: Int, fields: HTTPFields, _ details: S3ErrorDocument?, isForeign: Bool, signedAt: Date) {
        let code = details?.code
        let date = fields[.date].flatMap { HTTPDate(parsing: $0)?.date }
        let skew = date.map { abs($0.timeIntervalSince(signedAt)) } ?? 0
        switch (status, code?.description) {
        case (400...403, "RequestTimeTooSkewed"):
            self.init(.forbidden(code: code), recovery: date.map { .correctClock($0) } ?? .none)
        case (403, nil) where skew > StoreClock.suspiciousSkew:
            self.init(.forbidden(code: nil), recovery: date.map { .correctClock($0) } ?? .none)
        case (400...403, "ExpiredToken"):
            self.init(.forbidden(code: code), recovery: .renewCredentials)
        case (401, _), (403, _): self.init(.forbidden(code: code))
        case (404, "NoSuchBucket"): self.init(.noSuchBucket)
        case (404, _): self.init(isForeign ? .notS3(status: status) : .notFound)
        case (304, _): self.init(.notS3(status: status))
        case (300..<400, _): self.init(.redirected(region: Self.region(fields, details)))
        case (429, _), (503, "SlowDown"): self.init(.slowDown, recovery: .retry(after: Self.retryAfter(fields)))
        case (500, _), (503, _):
            self.init(.unavailable(status: status, code: code), recovery: .retry(after: Self.retryAfter(fields)))
        case (500..., _): self.init(.unavailable(status: status, code: code))
        case (400..., _): self.init(isForeign ? .notS3(status: status) : .refused(status: status, code: code))
        default: self.init(.notS3(status: status))
        }
    }

    private static func retryAfter(_ fields: HTTPFields) -> Duration? {
        fields[.retryAfter].flatMap(Int.init(digits:)).flatMap { $0 <= 86_400 ? .seconds($0) : nil }
    }

    private static func region(_ fields: HTTPFields, _ details: S3ErrorDocument?) -> String? {
        let region = HTTPField.Name("x-amz-bucket-region").flatMap { fields[$0] } ?? details?.region
        return region.flatMap { $0.isAmazonRegion ? $0 : nil }
    }
}

/// S3's description of an error. Its message is not used, because it may repeat parts of the request.
struct S3ErrorDocument {
    let code: S3ErrorCode
    let region: String?

    /// Nil if the bytes are not such a document.
    init?(_ bytes: some Sequence<UInt8>) {
        guard let root = try? XMLReader.root(of: Array(bytes)), root.name == "Error",
            let code = root.text(of: "Code").flatMap(S3ErrorCode.init)
        else { return nil }
        self.code = code
        region = root.text(of: "Region")
    }
}

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
