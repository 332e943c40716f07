import DarkroomDialects
import DarkroomQuery
import Testing

struct ThumborSignatureTests {
    /// The vectors that thumbor's documentation of its client libraries publishes.
    @Test(arguments: [
        "/8ammJH8D-7tXy6kU3lTvoXlhu4o=/300x200/my.server.com/some/path/to/image.jpg",
        "/Ps3ORJDqxlSQ8y00T29GdNAh2CY=/meta/my.server.com/some/path/to/image.jpg",
        "/-2NHpejRK2CyPAm61FigfQgJBxw=/smart/my.server.com/some/path/to/image.jpg",
        "/uvLnA6TJlF-Cc-L8z9pEtfasO3s=/fit-in/my.server.com/some/path/to/image.jpg",
        "/ZZtPCw-BLYN1g42Kh8xTcRs0Qls=/filters:brightness(10):contrast(20)/my.server.com/some/path/to/image.jpg",
    ])
    func `thumbor's published signatures are valid, and no others`(path: String) throws {
        let dialect = Thumbor(key: ThumborKey("my-security-key"))
        #expect(try dialect.translate(path[...], limits: QueryLimits()).isSigned)
        let wrong = Thumbor(key: ThumborKey("another-key"))
        #expect(throws: AuthorizationError.pathSignatureWrong) {
            try wrong.translate(path[...], limits: QueryLimits())
        }
        #expect(throws: AuthorizationError.pathSignatureWrong) {
            try dialect.translate((path + "x")[...], limits: QueryLimits())
        }
    }

    @Test(arguments: ThumborKey.Algorithm.allCases, [nil, 8, 28, 40] as [Int?])
    func `A signature of each hash function is valid at the length of the setting only`(
        algorithm: ThumborKey.Algorithm, length: Int?
    ) throws {
        let key = ThumborKey("secret", algorithm: algorithm, length: length)
        let path = "fit-in/300x200/filters:quality(80)/example.com/a.jpg"
        let signature = key.sign(path)
        let complete = [ThumborKey.Algorithm.sha1: 28, .sha256: 44, .sha512: 88][algorithm] ?? 0
        #expect(signature.utf8.count == min(length ?? complete, complete))
        #expect(try Thumbor(key: key).translate("/\(signature)/\(path)"[...], limits: QueryLimits()).isSigned)
        #expect(throws: AuthorizationError.pathSignatureWrong) {
            try Thumbor(key: key).translate("/\(signature.dropLast())/\(path)"[...], limits: QueryLimits())
        }
    }

    @Test func `A path is signed as it is sent, or before it was encoded`() throws {
        let key = ThumborKey("secret")
        let dialect = Thumbor(key: key)
        let plain = "300x200/example.com/a b.jpg"
        let encoded = "300x200/example.com/a%20b.jpg"
        for signed in [plain, encoded] {
            let translation = try dialect.translate("/\(key.sign(signed))/\(encoded)"[...], limits: QueryLimits())
            #expect(translation.isSigned && translation.query.pairs.first?.value == "https://example.com/a b.jpg")
        }
        let escaped = key.sign(encoded).replacing("=", with: "%3D")
        #expect(try dialect.translate("/\(escaped)/\(encoded)"[...], limits: QueryLimits()).isSigned)
    }

    @Test func `A path means the text that was signed, however often a client encodes it afterwards`() throws {
        let key = ThumborKey("secret")
        let dialect = Thumbor(key: key)
        // Sent as it is, this path is an image in the folder 100%25 of a host.
        let signed = "300x200/example.com/100%2525/a.jpg"
        let expected = try dialect.image("/\(key.sign(signed))/\(signed)")
        #expect(expected.url == "https://example.com/100%25/a.jpg")
        let twice = signed.replacing("%", with: "%25")
        #expect(try dialect.image("/\(key.sign(signed))/\(twice)") == expected)
        #expect(throws: AuthorizationError.pathSignatureWrong) {
            try dialect.image("/\(key.sign(signed))/\(twice.replacing("%", with: "%25"))")
        }
    }

    @Test(arguments: ["", "==", "AAAA", "/", "%2F", " "])
    func `A signature has one length and one spelling`(suffix: String) {
        let key = ThumborKey("secret")
        let path = "300x200/example.com/a.jpg"
        for signature in ["\(key.sign(path).dropLast())\(suffix)", "\(key.sign(path))\(suffix)="] {
            #expect(throws: AuthorizationError.pathSignatureWrong) {
                try Thumbor(key: key).translate("/\(signature)/\(path)"[...], limits: QueryLimits())
            }
        }
    }

    @Test func `Unsafe paths are unsigned, and so is a path whose signature no key verifies`() throws {
        #expect(try !Thumbor().translate("/unsafe/a.jpg", limits: QueryLimits()).isSigned)
        #expect(!Thumbor().requiresSignature && Thumbor(key: ThumborKey("k")).requiresSignature)
        let signed = "/8ammJH8D-7tXy6kU3lTvoXlhu4o=/300x200/a.jpg"
        #expect(try !Thumbor().translate(signed[...], limits: QueryLimits()).isSigned)
        #expect("\(ThumborKey("very-secret"))" == "sha1")
    }
}
