import DarkroomNetwork
import HTTPTypes
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
    /// Whether the answer has an `ETag` or a field of S3. All stores send one of them, and web servers that answer
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
