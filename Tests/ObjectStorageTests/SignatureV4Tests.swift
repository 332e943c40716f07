import Foundation
import Testing

@testable import DarkroomObjectStorage

/// The examples of "Signature Calculations for the Authorization Header" in the Amazon S3 API Reference.
struct SignatureV4Tests {
    struct Example: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method = "GET"
        var path = "/"
        var parameters: [(name: String, value: String)] = []
        var fields: [SignedField] = []
        var body = ""
        /// The SHA-256 of the canonical request, where the document states it.
        var requestHash: String?
        var signedNames = "host;x-amz-content-sha256;x-amz-date"
        var signature: String
    }

    static let examples = [
        Example(
            testDescription: "GET Object", path: "/test.txt", fields: [SignedField("range", "bytes=0-9")],
            requestHash: "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972",
            signedNames: "host;range;x-amz-content-sha256;x-amz-date",
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        Example(
            testDescription: "PUT Object", method: "PUT", path: "/test%24file.text",
            fields: [
                SignedField("date", "Fri, 24 May 2013 00:00:00 GMT"),
                SignedField("x-amz-storage-class", "REDUCED_REDUNDANCY"),
            ],
            body: "Welcome to Amazon S3.",
            requestHash: "9e0e90d9c76de8fa5b200d8c849cd5b8dc7a3be3951ddb7f6a76b4158342019d",
            signedNames: "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
        Example(
            testDescription: "GET Bucket Lifecycle", parameters: [("lifecycle", "")],
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        Example(
            testDescription: "Get Bucket (List Objects)", parameters: [("prefix", "J"), ("max-keys", "2")],
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ]

    private let date = Date(timeIntervalSince1970: 1_369_353_600)
    private let host = SignedField("host", "examplebucket.s3.amazonaws.com")

    private func credentials(token: String? = nil) throws -> Credentials {
        try Credentials(
            accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            sessionToken: token)
    }

    @Test(arguments: examples)
    func `Signs the examples of the documentation`(example: Example) throws {
        let signature = SignatureV4(credentials: try credentials(), region: "us-east-1")
        let hash = PayloadHash.of(Array(example.body.utf8))
        let fields = signature.sign(
            method: example.method, path: example.path, parameters: example.parameters,
            fields: example.fields + [host], payloadHash: hash, at: date)
        let authorization = try #require(fields.last)
        #expect(authorization.name == "authorization")
        let expected =
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            + "SignedHeaders=\(example.signedNames),Signature=\(example.signature)"
        #expect(authorization.value == expected)
        let request = CanonicalRequest(
            method: example.method, path: example.path, parameters: example.parameters, fields: fields.dropLast(),
            payloadHash: hash)
        if let requestHash = example.requestHash { #expect(PayloadHash.of(Array(request.text.utf8)) == requestHash) }
    }

    @Test func `Writes the canonical request of the documentation`() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let request = CanonicalRequest(
            method: "GET", path: "/", parameters: [("prefix", "J"), ("max-keys", "2")],
            fields: [SignedField("x-amz-date", "20130524T000000Z"), SignedField("x-amz-content-sha256", empty), host],
            payloadHash: empty)
        let expected = """
            GET
            /
            max-keys=2&prefix=J
            host:examplebucket.s3.amazonaws.com
            x-amz-content-sha256:\(empty)
            x-amz-date:20130524T000000Z

            host;x-amz-content-sha256;x-amz-date
            \(empty)
            """
        #expect(request.text == expected)
    }

    @Test func `Signs the token of temporary credentials`() throws {
        let signature = SignatureV4(credentials: try credentials(token: "the-token"), region: "us-east-1")
        let fields = signature.sign(
            method: "GET", path: "/", parameters: [], fields: [host], payloadHash: PayloadHash.of([]), at: date)
        #expect(fields.contains(SignedField("x-amz-security-token", "the-token")))
        let names = try #require(fields.last).value
        #expect(names.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"))
    }

    @Test(arguments: [
        ("a b", "", "a%20b="), ("q", "a+b&c=d/é", "q=a%2Bb%26c%3Dd%2F%C3%A9"), ("q", "~-._", "q=~-._"),
    ])
    func `Encodes parameters once`(name: String, value: String, expected: String) {
        #expect(CanonicalRequest.query([(name, value)]) == expected)
    }

    @Test func `Sorts parameters by their encoded names and then values`() {
        let query = CanonicalRequest.query([("b", "2"), ("é", "1"), ("a", "2"), ("a", "1"), ("A", "3")])
        #expect(query == "%C3%A9=1&A=3&a=1&a=2&b=2")
    }

    @Test(arguments: [("a  b   c", "a b c"), ("a b", "a b"), ("", "")])
    func `Runs of spaces become one`(value: String, canonical: String) {
        #expect(SignedField("x", value).canonicalValue == canonical)
    }
}
