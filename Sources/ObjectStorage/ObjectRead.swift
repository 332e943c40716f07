import DarkroomNetwork
package import HTTPTypes
package import NIOCore
import NIOHTTP1

package struct ObjectRead: Sendable {
    /// An ETag with its quotes. The object is sent only if its ETag differs.
    package var ifNoneMatch: String?
    /// A `Last-Modified` as received. The object is only sent if it was modified later. Ignored by stores if
    /// ``ifNoneMatch`` is given (RFC 9110 §13.1.3).
    package var ifModifiedSince: String?
    /// The largest number of bytes to receive.
    package var maxBytes: Int

    /// An unconditional read.
    package init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    var isConditional: Bool { ifNoneMatch != nil || ifModifiedSince != nil }
}

/// What arrives while an object is read, in order.
package enum ObjectPart: Sendable {
    /// The attributes, once, before all bytes.
    case attributes(ObjectAttributes)
    /// The next bytes, at least one.
    case bytes(ByteBuffer)
}

/// The end of a conditional read.
package enum ObjectReadResult: Sendable {
    case delivered(ObjectAttributes)
    /// The object matches the conditions (304). Nothing was delivered.
    case notModified(ObjectAttributes)
}

extension StoreRequest {
    static func get(_ name: ObjectName, _ read: ObjectRead) -> StoreRequest {
        var request = StoreRequest(.get, .GET, bucket: name.bucket, key: name.key)
        let fields = [("if-none-match", read.ifNoneMatch), ("if-modified-since", read.ifModifiedSince)]
        // Validators come from an earlier answer. One that cannot be signed is left out: the object is sent then.
        request.fields = fields.compactMap { name, value in
            value.flatMap {
                let field = SignedField(name, $0)
                return field.isValid ? field : nil
            }
        }
        return request
    }
}

extension HTTPTransport.Answer {
    /// Whether the answer has an `ETag` or a field of S3. All stores send at least one of them; web servers that answer
    /// every path with the same page rarely do.
    var isFromStore: Bool {
        fields[.eTag] != nil || fields.contains { $0.name.canonicalName.hasPrefix("x-amz-") }
    }

    /// Checks that a success is an object that is not too large.
    func checkObject(maxBytes: Int) throws(AttemptFailure) {
        guard isFromStore else { throw AttemptFailure(.notS3(status: status)) }
        if let length = fields[.contentLength].flatMap(Int.init(digits:)), length > maxBytes {
            throw AttemptFailure(.tooLarge(limitBytes: maxBytes))
        }
    }

    /// Passes on the object, and counts its bytes.
    func deliver(
        _ attributes: ObjectAttributes, maxBytes: Int,
        to deliver: (ObjectPart) async throws(ObjectStorageError) -> Void
    ) async throws(AttemptFailure) {
        do throws(ObjectStorageError) {
            try await deliver(.attributes(attributes))
        } catch {
            throw AttemptFailure(error)
        }
        var count = 0
        do throws(TransportFailure) {
            try await read { part throws(ObjectStorageError) in
                count += part.readableBytes
                guard count <= maxBytes else { throw .tooLarge(limitBytes: maxBytes) }
                try await deliver(.bytes(part))
            }
        } catch {
            throw AttemptFailure(error, mayRepeat: false)
        }
    }

    /// Reads a body that is not used, so that its connection can serve other requests.
    func drain() async throws(AttemptFailure) {
        let excess = ObjectStorageError.notS3(status: status)
        var count = 0
        do throws(TransportFailure) {
            try await read { part throws(ObjectStorageError) in
                count += part.readableBytes
                guard count <= AttemptFailure.maxDocumentBytes else { throw excess }
            }
        } catch {
            // The head has the result; only its connection is lost.
            guard error.error != excess else { return }
            throw AttemptFailure(error, mayRepeat: true)
        }
    }
}

/// What a store says about an object besides its bytes.
package struct ObjectAttributes: Sendable {
    /// The fields of the answer, as untrusted as the body. Includes `ETag`, `Last-Modified`, `Content-Type` and, if
    /// they were stored with the object, `Cache-Control`, `Content-Encoding` and `Expires`.
    package let fields: HTTPFields

    /// The number of bytes that the answer announces.
    package var contentLength: Int? { fields[.contentLength].flatMap(Int.init(digits:)) }
}
