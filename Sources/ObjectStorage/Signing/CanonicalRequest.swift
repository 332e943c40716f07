import Crypto
import DarkroomNetwork

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
