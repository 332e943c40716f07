import DarkroomHTTPServer
import DarkroomNetwork
import HTTPTypes

/// The form of a body with an image: the bytes themselves, or a form with one file.
struct UploadForm: Sendable {
    /// Reads the form; nil = the body is the image.
    var multipart: MultipartReader?

    /// The form that the header fields of a request state. The format of an image is recognized by its bytes, so that
    /// any image type will do, and none at all.
    init(_ fields: HTTPFields) throws(Problem) {
        let codings = fields[.contentEncoding] ?? "identity"
        guard codings.lowercased() == "identity" else {
            throw Problem(.unsupportedBody, "The image must be sent without a Content-Encoding.")
        }
        guard let text = fields[.contentType] else { return }
        let type = MediaType(text)
        if let type, type.isImage || type.name == "application/octet-stream" { return }
        guard let type, type.name == "multipart/form-data" else {
            throw Problem(
                .unsupportedBody,
                "The body must be an image, sent with a Content-Type such as 'image/jpeg' or "
                    + "'application/octet-stream', or 'multipart/form-data' with one file.")
        }
        multipart = type.parameters["boundary"].flatMap(MultipartReader.init)
        guard multipart != nil else {
            throw Problem(.invalidBody, "multipart/form-data requires the parameter 'boundary', of 1 to 70 characters.")
        }
    }

    /// The most bytes that a body may have, for images of this size.
    func maxBodyBytes(maxSourceBytes: Int) -> Int {
        maxSourceBytes + (multipart == nil ? 0 : MultipartReader.maxOverheadBytes)
    }
}

extension HTTPFields {
    /// The length that `Content-Length` states; nil if there is none.
    var announcedLength: Int? { self[.contentLength].flatMap(Int.init(digits:)) }
}

extension Problem {
    static let uploadsDisabled = Problem(
        .uploadsDisabled, "This server does not accept images in the body; its operator can set 'uploads'.")

    static func uploadTooLarge(maxBytes: Int) -> Problem {
        Problem(.sourceTooLarge, "The image in the body must be at most \(maxBytes) bytes long ('max-source-bytes').")
    }
}
