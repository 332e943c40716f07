import DarkroomTestOrigin
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomOrigin

/// Bodies with content codings, which no request asks for.
@Suite(.timeLimit(.minutes(5)))
struct ContentDecoderTests {
    private static let content = String(repeating: "picture", count: 30)

    /// The content in each coding, by other encoders than ours.
    private static let encoded: [(codings: String, base64: String)] = [
        ("gzip", gzip), ("x-gzip", gzip), ("GZIP", gzip), ("gzip, UTF-8", gzip), ("aws-chunked, gzip", gzip),
        // Two members.
        (
            "gzip",
            "H4sIAAAAAAACAyvITC4pLUotoCUFAEW/eiBkAAAAH4sIAAAAAAACA0suKS1KLchMpg8FANg9RqZuAAAA"
        ),
        // With and without the header of zlib.
        ("deflate", "eJwryEwuKS1KLRg+FADoIFmJ"), ("deflate", "K8hMLiktSi0YPhQA"),
        ("br", "G9EA+CUAqpDBKgFGtAA="), ("zstd", "KLUv/QBYdQAAOHBpY3R1cmUBAEhRxQg="),
        ("gzip, gzip", "H4sIAAAAAAACA5Pv5mAAASZm7RM+epq6XroSdiIMDzcvT7gEFAUAfFahtB4AAAA="),
        ("gzip, br", "iw6AH4sIAAAAAAACAyvITC4pLUotGD4UAOGzp2DSAAAAAw=="),
    ]
    private static let gzip = "H4sIAAAAAAACAyvITC4pLUotGD4UAOGzp2DSAAAA"
    /// 100 MiB of zeros, in 172 bytes of Brotli.
    private static let bomb =
        "y///P/gnAOKxQCD3/o///3/wTwDEYRGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/8//+DfwIgDgsAdO//+P//B/8EQBwWAOje//H//w"
        + "/+CYA4LADQvf/j//8f/BMAcVgAoHv/x///P/gnAOKwAED3/o///3/wTwDEYQGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/5//+Df"
        + "wIgDgsAdO9/AA=="

    private static func bytes(_ base64: String) throws -> [UInt8] { Array(try #require(Data(base64Encoded: base64))) }

    private static func decode(_ codings: String, _ parts: [[UInt8]], maxBytes: Int = 1 << 30) throws -> (String, Bool)
    {
        let decoder = ContentDecoder(try #require(ContentCoding.list([codings])), maxBytes: maxBytes)
        var output = ByteBuffer()
        for part in parts {
            decoder.append(ByteBuffer(bytes: part))
            while let piece = try decoder.next() {
                #expect((1...ContentDecoder.pieceBytes).contains(piece.readableBytes))
                output.writeImmutableBuffer(piece)
            }
        }
        return (String(buffer: output), decoder.isComplete)
    }

    @Test(arguments: encoded)
    func `Each coding is decoded, however the bytes are divided`(codings: String, base64: String) throws {
        let bytes = try Self.bytes(base64)
        #expect(try Self.decode(codings, [bytes]) == (Self.content, true))
        #expect(try Self.decode(codings, bytes.map { [$0] }) == (Self.content, true))
        let (beginning, isWhole) = try Self.decode(codings, [Array(bytes.dropLast())])
        #expect(!isWhole && Self.content.hasPrefix(beginning))
    }

    @Test func `A format of zstd before 1.0 is refused, however the bytes are divided`() throws {
        let bytes = try Self.bytes("JbUv/QBYdQAAOHBpY3R1cnRyfWU=")
        for parts in [[bytes], bytes.map { [$0] }] {
            #expect(throws: OriginError.unacceptableEncoding) { try Self.decode("zstd", parts) }
        }
    }

    @Test func `Several frames of zstd are decoded, however the bytes are divided`() throws {
        let bytes = try Self.bytes("KLUv/QBYdQAAOHBpY3R1cmUBAEhRxQg=")
        for parts in [[bytes + bytes], (bytes + bytes).map { [$0] }] {
            #expect(try Self.decode("zstd", parts) == (Self.content + Self.content, true))
        }
    }

    @Test func `What follows the end is ignored, however the bytes are divided`() throws {
        let bytes = try Self.bytes(Self.gzip)
        let followed = bytes + [0xA3] + bytes
        #expect(try Self.decode("gzip", [followed]).0 == Self.content)
        #expect(try Self.decode("gzip", followed.map { [$0] }).0 == Self.content)
        #expect(try Self.decode("gzip", (bytes + bytes).map { [$0] }).0 == Self.content + Self.content)
    }

    @Test(arguments: encoded)
    func `A body is decoded on its way from the origin`(codings: String, base64: String) async throws {
        let body = ByteBuffer(bytes: try Self.bytes(base64))
        try await withOrigin { _ in
            [.respond(fields: ["Content-Encoding: \(codings)", "ETag: \"e\""], bytes: body)]
        } _: { client, origin async throws in
            let response = try await client.fetch(origin.url())
            #expect(String(buffer: response.body) == Self.content)
            #expect(response.headers[.contentEncoding] == nil && response.headers[.contentLength] == nil)
            #expect(response.headers[.eTag] == "\"e\"")
        }
    }

    @Test(arguments: encoded)
    func `An object is decoded on its way from the store`(codings: String, base64: String) async throws {
        let body = ByteBuffer(bytes: try Self.bytes(base64))
        try await StubSources.run { _ in
            [.respond(fields: ["ETag: \"e\"", "Content-Encoding: \(codings)"], bytes: body)]
        } testing: { stub async throws in
            #expect(try await String(buffer: stub.sources.fetch(.object()).body) == Self.content)
        }
    }

    @Test(arguments: ["", "identity", "aws-chunked", "UTF-8", "none", "binary", "x, y"])
    func `Words that are no coding mean nothing`(codings: String) async throws {
        try await withOrigin { _ in
            [.respond(fields: ["Content-Encoding: \(codings)"])]
        } _: { client, origin async throws in
            #expect(try await String(buffer: client.fetch(origin.url()).body) == "picture")
        }
    }

    @Test(
        "bodies that are not what their codings say are refused, and truncated bodies are incomplete",
        arguments: [
            ("gzip", "cGljdHVyZQ==", .unacceptableEncoding), ("br", "////////", .unacceptableEncoding),
            ("zstd", "cGljdHVyZQ==", .unacceptableEncoding), ("deflate", "////", .unacceptableEncoding),
            ("gzip", String(gzip.dropLast(8)), .unreachable(.incomplete)),
            (Array(repeating: "gzip", count: 20).joined(separator: ","), gzip, .unacceptableEncoding),
            ("br", bomb, .tooLarge(limitBytes: ContentDecoder.freeBytes + 172 * ContentDecoder.maxRatio)),
            ("deflate", "eA==", .emptyBody),
        ] as [(String, String, OriginError)])
    func refused(codings: String, base64: String, expected: OriginError) async throws {
        let body = ByteBuffer(bytes: try Self.bytes(base64))
        try await withOrigin { _ in
            [.respond(fields: ["Content-Encoding: \(codings)"], bytes: body)]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == expected)
        }
    }

    @Test func `Decoded bytes count for the limit of sources`() async throws {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.maxSourceBytes = 209 }
        let body = ByteBuffer(bytes: try Self.bytes(Self.gzip))
        try await withOrigin(settings) { _ in
            [.respond(fields: ["Content-Encoding: gzip"], bytes: body)]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == .tooLarge(limitBytes: 209))
        }
    }
}
