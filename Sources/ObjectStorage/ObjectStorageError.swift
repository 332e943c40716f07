import DarkroomNetwork

/// Why an operation on a store failed. Descriptions are sentences for operators and logs: they contain no keys, no
/// credentials and no text of the store but its error code.
package enum ObjectStorageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The request is invalid. Nothing was sent.
    case invalidRequest(RequestFault)
    /// No usable credentials were found. Nothing was sent.
    case credentials(CredentialsError)
    /// The bucket has no such object. The answer to a HEAD request does not distinguish this from a missing bucket.
    case notFound
    /// The bucket does not exist.
    case noSuchBucket
    /// The store denies access (401, 403), with its code, such as `AccessDenied` or `SignatureDoesNotMatch`.
    case forbidden(code: S3ErrorCode?)
    /// The store throttled the requests (429, or 503 `SlowDown`), in all attempts.
    case slowDown
    /// The store failed (5xx), in all attempts if a retry was possible.
    case unavailable(status: Int, code: S3ErrorCode?)
    /// The store does not accept the request (other 4xx).
    case refused(status: Int, code: S3ErrorCode?)
    /// The store redirects, which is not followed: the endpoint or the region is wrong.
    case redirected(region: String?)
    /// The object, or its announced length, exceeds the limit.
    case tooLarge(limitBytes: Int)
    /// The time limit of the operation passed in this phase.
    case timedOut(Phase)
    /// No complete answer arrived, in all attempts if a retry was possible.
    case unreachable(Stage)
    /// The answer does not follow the S3 protocol, such as a page of a web server.
    case notS3(status: Int)
    /// The task was canceled, or the store is shut down.
    case canceled

    /// What is wrong with a request, as a sentence.
    package enum RequestFault: String, Sendable {
        case bucket = "The bucket's name is not valid; give 3 to 63 lower-case letters, digits, '-' and '.'."
        /// The key, which is empty, too long or contains NUL.
        case key = "The object's key is not valid; give 1 to 1024 bytes of UTF-8 without NUL."
        /// The URL of the endpoint.
        case endpoint =
            "The endpoint is not valid; give an http or https URL without path, such as https://s3.example.com."
        case region = "The region is not valid; give letters, digits and '-', such as us-east-1."
    }

    /// The phase of an operation, with a timeout in it as a sentence.
    package enum Phase: String, Sendable {
        /// Loading or renewing credentials.
        case credentials = "Loading credentials for the object store took too long."
        /// Connecting, sending the request and waiting for the head of the answer.
        case response = "The object store took too long to answer."
        /// Receiving the body.
        case body = "The object store took too long to send its answer."
        /// Waiting before another attempt.
        case pause = "The object store kept failing until the time limit."
    }

    /// The stage at which an exchange failed, with the failure as a sentence.
    package enum Stage: String, Sendable {
        /// The name has no address.
        case dns = "The object store's name could not be resolved."
        /// The host refused the connection.
        case refused = "The object store refused the connection."
        /// The connection failed for another reason, or took too long.
        case connect = "The connection to the object store failed."
        case tls = "The TLS handshake with the object store failed."
        /// The certificate is invalid, not trusted or another host's.
        case certificate = "The object store's certificate is not trusted."
        /// The connection closed before the head of the answer.
        case reset = "The object store closed the connection before it answered."
        /// The connection closed within the body.
        case incomplete = "The object store closed the connection before its answer was complete."
        /// The answer is not HTTP, or its head is too large.
        case malformed = "The object store's answer is not valid HTTP."
    }

    /// The error as a sentence.
    package var description: String {
        switch self {
        case .invalidRequest(let fault): fault.rawValue
        case .credentials(let error): error.description
        case .notFound: "The object store has no such object."
        case .noSuchBucket: "The object store has no such bucket."
        case .forbidden(let code): "The object store denied access\(Self.suffix(code))."
        case .slowDown: "The object store asks for fewer requests."
        case .unavailable(let status, let code): "The object store failed with status \(status)\(Self.suffix(code))."
        case .refused(let status, let code):
            "The object store refused the request with status \(status)\(Self.suffix(code))."
        case .redirected(let region?): "The object store redirects: the bucket is in the region \(region)."
        case .redirected(nil): "The object store redirects to another endpoint, which is not followed."
        case .tooLarge(let limitBytes): "The object is larger than \(limitBytes) bytes."
        case .timedOut(let phase): phase.rawValue
        case .unreachable(let stage): stage.rawValue
        case .notS3(let status): "The endpoint does not speak S3: its answer with status \(status) is of another kind."
        case .canceled: "The operation was canceled."
        }
    }

    private static func suffix(_ code: S3ErrorCode?) -> String { code.map { " (\($0))" } ?? "" }
}

/// A store's code for an error, such as `NoSuchKey`: at most 64 ASCII letters, digits and `.-_`, whatever was sent.
package struct S3ErrorCode: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// Nil if the text is not a code.
    init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(\.isPlainNameCharacter) else { return nil }
        description = text
    }
}
