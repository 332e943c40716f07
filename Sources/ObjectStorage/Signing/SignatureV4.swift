import Crypto
import Foundation

/// AWS Signature Version 4 in header fields, with the hash of the body and without chunks.
///
/// See "Create a signed AWS API request" in the reference of AWS Identity and Access Management.
struct SignatureV4 {
    let credentials: Credentials
    let region: String
    var service = "s3"

    private static let algorithm = "AWS4-HMAC-SHA256"

    /// All fields of the signed request: the given ones, `x-amz-content-sha256`, `x-amz-date`, for temporary
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
        "\(timestamp.prefix(8))/\(region)/\(service)/aws4_request"
    }

    private func signingKey(_ timestamp: String) -> SymmetricKey {
        let parts = [String(timestamp.prefix(8)), region, service, "aws4_request"]
        return parts.reduce(SymmetricKey(data: Array("AWS4\(credentials.secretKey)".utf8))) { key, part in
            SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
        }
    }
}
