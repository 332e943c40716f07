import DarkroomHTTPCaching
import DarkroomNetwork
import Foundation
import HTTPTypes

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
        case (412, _): self.init(.preconditionFailed)
        case (416, _): self.init(.rangeNotSatisfiable)
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
