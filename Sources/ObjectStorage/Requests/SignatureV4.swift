import AsyncHTTPClient
import Crypto
import DarkroomHTTPClient
import DarkroomNetwork
import Foundation
import NIOCore
import NIOHTTP1

/// AWS Signature Version 4 in header fields, with the hash of the body and without chunks.
///
/// See "Create a signed AWS API request" in the reference of AWS Identity and Access Management.
struct SignatureV4 {
    let credentials: Credentials
    let region: String

    private static let algorithm = "AWS4-HMAC-SHA256"

    /// All fields of the signed request: the given fields, `x-amz-content-sha256`, `x-amz-date`, for temporary
    /// credentials `x-amz-security-token`, and `authorization`.
    ///
    /// - Parameter fields: the fields to sign, `host` among them.
    func sign(
        method: String, path: String, parameters: [CanonicalRequest.Parameter], fields: [SignedField],
        payloadHash: String, at date: Date
    ) -> [SignedField] {
        let timestamp = Self.timestamp(date)
        var fields = fields + [SignedField("x-amz-content-sha256", payloadHash), SignedField("x-amz-date", timestamp)]
        if let token = credentials.sessionToken { fields.append(SignedField("x-amz-security-token", token)) }
        let request = CanonicalRequest(
            method: method, path: path, parameters: parameters, fields: fields, payloadHash: payloadHash)
        let signature = PayloadHash.hexadecimal(
            HMAC<SHA256>.authenticationCode(
                for: Array(stringToSign(request, timestamp: timestamp).utf8), using: signingKey(timestamp)))
        let authorization =
            "\(Self.algorithm) Credential=\(credentials.accessKey)/\(scope(timestamp)),"
            + "SignedHeaders=\(request.signedNames),Signature=\(signature)"
        return fields + [SignedField("authorization", authorization)]
    }

    func stringToSign(_ request: CanonicalRequest, timestamp: String) -> String {
        [Self.algorithm, timestamp, scope(timestamp), PayloadHash.of(Array(request.text.utf8))]
            .joined(separator: "\n")
    }

    /// The time as `20130524T000000Z`.
    static func timestamp(_ date: Date) -> String { date.formatted(style) }

    private static let style = Date.ISO8601FormatStyle(
        dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted, timeZone: .gmt)

    private func scope(_ timestamp: String) -> String {
        "\(timestamp.prefix(8))/\(region)/s3/aws4_request"
    }

    private func signingKey(_ timestamp: String) -> SymmetricKey {
        let secret = SymmetricKey(data: Array("AWS4\(credentials.secretKey)".utf8))
        return scope(timestamp).split(separator: "/").reduce(secret) { key, part in
            SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
        }
    }
}

/// The form of a request that Signature Version 4 signs, which client and store derive independently.
///
/// See "Create a canonical request" in the reference of AWS Identity and Access Management.
struct CanonicalRequest {
    /// A parameter of the query, not encoded.
    typealias Parameter = (name: String, value: String)

    let method: String
    /// The path, percent-encoded once. S3 differs from other services of AWS in that, and in not normalizing it.
    let path: String
    /// The encoded query, sorted by names and values, in the form in which it is sent.
    let query: String
    /// In the order of their names.
    private let fields: [SignedField]
    private let payloadHash: String

    /// - Parameter payloadHash: the SHA-256 of the body in hexadecimal digits.
    init(method: String, path: String, parameters: [Parameter], fields: [SignedField], payloadHash: String) {
        self.method = method
        self.path = path
        self.fields = fields.sorted { $0.name < $1.name }
        self.payloadHash = payloadHash
        query = Self.query(parameters)
    }

    /// The names of the fields, as in the `Authorization` field.
    var signedNames: String { fields.map(\.name).joined(separator: ";") }

    var text: String {
        let lines = fields.map { "\($0.name):\($0.canonicalValue)\n" }.joined()
        return [method, path, query, lines, signedNames, payloadHash].joined(separator: "\n")
    }

    static func query(_ parameters: [Parameter]) -> String {
        let encoded = parameters.map { (PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)) }
        return encoded.sorted { $0 < $1 }.map { "\($0)=\($1)" }.joined(separator: "&")
    }
}

/// Hexadecimal SHA-256, as signatures need it.
enum PayloadHash {
    static func of(_ bytes: some Sequence<UInt8>) -> String {
        var hash = SHA256()
        if bytes.withContiguousStorageIfAvailable({ hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }) == nil {
            hash.update(data: Array(bytes))
        }
        return hexadecimal(hash.finalize())
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// A header field that the signature covers.
struct SignedField: Equatable {
    /// The name in lower case.
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the value is printable ASCII without spaces at its ends. HTTP allows more, but intermediaries change it,
    /// and the signature would no longer match.
    var isValid: Bool {
        value.utf8.allSatisfy { (0x20...0x7e).contains($0) } && value.utf8.first != 0x20 && value.utf8.last != 0x20
    }

    /// The value in the canonical request: runs of spaces become one.
    var canonicalValue: String {
        var isAfterSpace = false
        let bytes = value.utf8.filter { byte in
            defer { isAfterSpace = byte == 0x20 }
            return !(isAfterSpace && byte == 0x20)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

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
