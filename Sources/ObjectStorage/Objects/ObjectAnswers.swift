import DarkroomNetwork
package import HTTPTypes
import NIOCore
import NIOHTTP1

extension StoreRequest {
    /// A request for an object.
    static func get(_ name: ObjectName, _ read: ObjectRead) -> StoreRequest {
        var request = StoreRequest(.get, .GET, bucket: name.bucket, key: name.key)
        let fields = [
            ("range", read.range?.field), ("if-none-match", read.ifNoneMatch),
            ("if-modified-since", read.ifModifiedSince),
        ]
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

    /// The object in memory.
    func object(maxBytes: Int) async throws(AttemptFailure) -> ByteBuffer {
        do throws(TransportFailure) {
            if let body = try await collect(upTo: maxBytes) { return body }
        } catch {
            throw AttemptFailure(error, mayRepeat: true)
        }
        throw AttemptFailure(.tooLarge(limitBytes: maxBytes))
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

    /// The ETag with its quotes.
    package var etag: String? { fields[.eTag] }

    /// The number of bytes that the answer announces: of the object, or of the part that was asked for.
    package var contentLength: Int? { fields[.contentLength].flatMap(Int.init(digits:)) }

    /// The part of the object that the answer contains (RFC 9110 §14.4), or nil if that is the whole object. Some
    /// stores ignore ranges.
    package var contentRange: (bytes: ClosedRange<Int>, total: Int?)? {
        guard let text = fields[.contentRange], text.hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        let ends = (parts.first ?? "").split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, ends.count == 2, let first = Int(digits: ends[0]), let last = Int(digits: ends[1]),
            first <= last
        else { return nil }
        return (first...last, Int(digits: parts[1]))
    }

    /// The user-defined metadata of this name, as in ``ObjectWrite/metadata``.
    package func metadata(_ name: String) -> String? {
        HTTPField.Name(ObjectWrite.metadataPrefix + name).flatMap { fields[$0] }
    }
}

extension HTTPFields {
    /// The fields of a received head, without names and values that RFC 9110 does not allow.
    init(received headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers {
            guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { continue }
            append(HTTPField(name: name, value: value))
        }
    }
}
