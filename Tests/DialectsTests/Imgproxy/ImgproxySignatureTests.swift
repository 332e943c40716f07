import DarkroomQuery
import Testing

@testable import DarkroomDialects

/// Who may ask for a path.
struct ImgproxySignatureTests {
    /// The pair of imgproxy's documentation: `secret` and `hello`.
    private static let documented = (key: "736563726574", salt: "68656C6C6F")
    private static let path =
        "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
    private static let signature = "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8"

    @Test func `The documented signature is accepted, and no other path with it`() throws {
        let bench = try ImgproxyBench(pairs: [Self.documented])
        #expect(try bench.translation("/\(Self.signature)\(Self.path)").isSigned)
        for target in [
            "/\(Self.signature)\(Self.path)x", "/\(Self.signature.dropLast())\(Self.path)", "/x\(Self.path)",
            "/\(Self.signature.lowercased())\(Self.path)",
        ] {
            #expect(throws: AuthorizationError.pathSignatureWrong) { try bench.translation(target) }
        }
        let keys = try ImgproxyKeys(pairs: [Self.documented])
        #expect(keys.signature(of: Self.path) == Self.signature)
    }

    @Test func `A signature has one spelling, with or without padding`() throws {
        let bench = try ImgproxyBench(pairs: [Self.documented])
        #expect(try bench.translation("/\(Self.signature)=\(Self.path)").isSigned)
        // The last character has two bits more than the 32 bytes.
        let others = ["9", "-", "_"].map { "\(Self.signature.dropLast())\($0)" }
        for signature in others + [Self.signature + "A", Self.signature.replacing("_", with: "/"), "=", "%3D"] {
            #expect(throws: AuthorizationError.pathSignatureWrong) {
                try bench.translation("/\(signature)\(Self.path)")
            }
        }
        #expect(throws: AuthorizationError.pathSignatureWrong) {
            try bench.translation("/\(Self.signature)/\(Self.path)")
        }
    }

    @Test func `Keys in text form sign as in imgproxy's own tests`() throws {
        let bench = try ImgproxyBench(pairs: [(key: "746573742d6b6579", salt: "746573742d73616c74")])
        let path = "/My9d3xq_PYpVHsPrCyww0Kh1w5KZeZhIlWhsa4az1TI/rs:fill:4:4/plain/local:///test1.png"
        #expect(try bench.translation(path).isSigned)
    }

    @Test func `Any of several pairs may sign`() throws {
        let other = (key: "00ff", salt: "11")
        let bench = try ImgproxyBench(pairs: [other, Self.documented])
        #expect(try bench.translation("/\(Self.signature)\(Self.path)").isSigned)
        let signature = try #require(try ImgproxyKeys(pairs: [other]).signature(of: Self.path))
        #expect(try bench.translation("/\(signature)\(Self.path)").isSigned)
    }

    @Test func `A truncated signature is none`() throws {
        let bench = try ImgproxyBench(pairs: [Self.documented])
        #expect(throws: AuthorizationError.pathSignatureWrong) {
            try bench.translation("/\(Self.signature.dropLast(32))\(Self.path)")
        }
    }

    @Test func `Without keys any text stands in place of a signature, and the path counts as unsigned`() throws {
        let bench = try ImgproxyBench()
        #expect(!bench.dialect.requiresSignature)
        for text in ["unsafe", "insecure", "_", "whatever"] {
            #expect(try !bench.translation("/\(text)\(Self.path)").isSigned)
        }
    }

    @Test func `With keys, unsafe is no wrong signature but none`() throws {
        let bench = try ImgproxyBench(pairs: [Self.documented])
        #expect(bench.dialect.requiresSignature)
        #expect(try !bench.translation("/unsafe\(Self.path)").isSigned)
    }

    @Test func `The signature is for the path that proxies have changed back`() throws {
        let keys = try ImgproxyKeys(pairs: [Self.documented])
        let bench = try ImgproxyBench(pairs: [Self.documented])
        let signature = try #require(keys.signature(of: "/w:5/plain/https://a.org/b"))
        for path in ["w:5/plain/https://a.org/b", "w%3A5/plain/https:/a.org/b"] {
            #expect(try bench.translation("/\(signature)/\(path)").isSigned)
        }
    }

    @Test(arguments: [("", "11"), ("1", "11"), ("0g", "11"), ("11", ""), ("11", "zz")])
    func `Keys and salts that are not hexadecimal are refused without repeating them`(key: String, salt: String) throws
    {
        let flaw = try #require(throws: ImgproxyKeys.Flaw.self) { try ImgproxyKeys(pairs: [(key, salt)]) }
        #expect("\(flaw)".contains("pair 1 must be") && !"\(flaw)".contains("0g") && !"\(flaw)".contains("zz"))
    }
}
