import Crypto
import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

struct SourceDigestTests {
    private func hex(_ digest: some Sequence<UInt8>) -> String {
        digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test(arguments: SourceDigest.Algorithm.allCases)
    func `A source with its hash is made, and any other is refused with the hash that it has`(
        algorithm: SourceDigest.Algorithm
    ) throws {
        let source = try Drawing.quarters(4, 4).png()
        let view = Array(source.readableBytesView)
        let hash =
            switch algorithm {
            case .md5: hex(Insecure.MD5.hash(data: view))
            case .sha1: hex(Insecure.SHA1.hash(data: view))
            case .sha256: hex(SHA256.hash(data: view))
            case .sha512: hex(SHA512.hash(data: view))
            }
        let right = try #require(SourceDigest(algorithm, hash.uppercased()))
        #expect(try produce(source, .with { $0.digest = right }).size == PixelSize(width: 4, height: 4))
        let wrong = try #require(SourceDigest(algorithm, String(repeating: "0", count: hash.count)))
        let reason = "the source has the \(algorithm.rawValue) \(hash)"
        #expect(throws: ImageProcessingError.badParameter(TransformError(parameter: "digest", reason: reason))) {
            try produce(source, .with { $0.digest = wrong })
        }
        #expect(TransformChain(Recipe.with { $0.digest = wrong }).key != TransformChain(Recipe()).key)
    }

    @Test func `A hash is checked wherever it is in the chain`() throws {
        let wrong = try #require(SourceDigest(.md5, String(repeating: "0", count: 32)))
        let job = ImageJob(
            source: try Drawing.quarters(4, 4).png(), chain: TransformChain([Flip(), wrong]),
            output: OutputOptions(format: .png))
        #expect(throws: ImageProcessingError.self) { try InProcessImageProcessor().process(job) { false } }
    }

    @Test func `A text that is no hash is not accepted`() {
        #expect(SourceDigest(.md5, "0") == nil && SourceDigest(.md5, String(repeating: "g", count: 32)) == nil)
    }
}
