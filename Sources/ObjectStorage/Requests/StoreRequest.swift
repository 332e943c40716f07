import AsyncHTTPClient
import DarkroomHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// One request to a store, before it is signed. Every attempt signs it again.
struct StoreRequest: Sendable {
    /// What a store charges for.
    var operation: ObjectStoreOperation
    var method: HTTPMethod
    var bucket: BucketName
    var key: ObjectKey?
    /// Parameters of the query, not encoded.
    var parameters: [(name: String, value: String)] = []
    /// Fields other than `host` and the fields of the signature.
    var fields: [SignedField] = []
    var body: ByteBuffer?
    /// The SHA-256 of ``body`` in hexadecimal digits.
    let payloadHash: String

    init(
        _ operation: ObjectStoreOperation, _ method: HTTPMethod, bucket: BucketName, key: ObjectKey? = nil,
        body: ByteBuffer? = nil
    ) {
        self.operation = operation
        self.method = method
        self.bucket = bucket
        self.key = key
        self.body = body
        payloadHash = PayloadHash.of(body?.readableBytesView ?? ByteBufferView())
    }

    /// The request for the HTTP client.
    func signed(
        with credentials: Credentials, region: String, endpoint: ObjectStoreEndpoint, at date: Date
    ) throws(ObjectStorageError) -> HTTPClientRequest {
        let target = try endpoint.target(bucket: bucket, key: key)
        let signature = SignatureV4(credentials: credentials, region: region)
        let signed = signature.sign(
            method: method.rawValue, path: target.path, parameters: parameters,
            fields: fields + [SignedField("host", target.authority)], payloadHash: payloadHash, at: date)
        let query = CanonicalRequest.query(parameters)
        let url = target.origin + target.path + (query.isEmpty ? "" : "?\(query)")
        var request = HTTPClientRequest(method, exactly: url)
        for field in signed { request.headers.replaceOrAdd(name: field.name, value: field.value) }
        // Not signed, because intermediaries change it. Bodies must arrive as they are stored.
        request.headers.add(name: "accept-encoding", value: "identity")
        request.headers.add(name: "user-agent", value: "darkroom")
        request.body = body.map { .bytes($0) }
        return request
    }
}

/// The operations that a store charges for, one request each.
package enum ObjectStoreOperation: String, Hashable, Sendable, CaseIterable {
    case get, head, put, delete, deleteBatch, list
}
