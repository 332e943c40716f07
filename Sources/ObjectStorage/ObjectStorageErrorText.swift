extension ObjectStorageError: CustomStringConvertible {
    /// The error as a sentence.
    package var description: String {
        switch self {
        case .invalidRequest(let fault): fault.description
        case .credentials(let error): error.description
        case .notFound: "The object store has no such object."
        case .noSuchBucket: "The object store has no such bucket."
        case .forbidden(let code): "The object store denied access\(Self.suffix(code))."
        case .preconditionFailed: "An object with this key exists already."
        case .rangeNotSatisfiable: "The range begins beyond the end of the object."
        case .slowDown: "The object store asks for fewer requests."
        case .unavailable(let status, let code): "The object store failed with status \(status)\(Self.suffix(code))."
        case .refused(let status, let code):
            "The object store refused the request with status \(status)\(Self.suffix(code))."
        case .redirected(let region?): "The object store redirects: the bucket is in the region \(region)."
        case .redirected(nil): "The object store redirects to another endpoint, which is not followed."
        case .tooLarge(let limitBytes): "The object is larger than \(limitBytes) bytes."
        case .timedOut(let phase): phase.description
        case .unreachable(let stage): stage.description
        case .notS3(let status): "The endpoint does not speak S3: its answer with status \(status) is of another kind."
        case .canceled: "The operation was canceled."
        }
    }

    private static func suffix(_ code: S3ErrorCode?) -> String { code.map { " (\($0))" } ?? "" }
}

extension ObjectStorageError.RequestFault: CustomStringConvertible {
    /// The fault as a sentence.
    package var description: String {
        switch self {
        case .bucket:
            "The bucket's name is not valid; give 3 to 63 lower-case letters, digits, '-' and '.'."
        case .key: "The object's key is not valid; give 1 to \(ObjectKey.maxBytes) bytes of UTF-8 without NUL."
        case .endpoint:
            "The endpoint is not valid; give an http or https URL without path, such as https://s3.example.com."
        case .region: "The region is not valid; give letters, digits and '-', such as us-east-1."
        case .field: "A header field or metadata of the request is not valid, or too long."
        case .certificates: "The file of certificate authorities cannot be read; give a file in PEM format."
        }
    }
}

extension ObjectStorageError.Phase: CustomStringConvertible {
    /// The timeout as a sentence.
    package var description: String {
        switch self {
        case .credentials: "Loading credentials for the object store took too long."
        case .response: "The object store took too long to answer."
        case .body: "The object store took too long to send its answer."
        case .pause: "The object store kept failing until the time limit."
        }
    }
}

extension ObjectStorageError.Stage: CustomStringConvertible {
    /// The failure as a sentence.
    package var description: String {
        switch self {
        case .dns: "The object store's name could not be resolved."
        case .refused: "The object store refused the connection."
        case .connect: "The connection to the object store failed."
        case .tls: "The TLS handshake with the object store failed."
        case .certificate: "The object store's certificate is not trusted."
        case .reset: "The object store closed the connection before it answered."
        case .incomplete: "The object store closed the connection before its answer was complete."
        case .malformed: "The object store's answer is not valid HTTP."
        }
    }
}
