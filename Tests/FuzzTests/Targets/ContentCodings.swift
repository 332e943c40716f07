import Foundation
import NIOCore
import Testing

@testable import DarkroomOrigin

extension FuzzTests {
    @Test(arguments: ["gzip", "deflate", "br", "zstd", "gzip, br"])
    func `A coded body decodes to the same bytes however it is divided`(codings: String) throws {
        let seeds = [
            "H4sIAAAAAAACAyvITC4pLUotGD4UAOGzp2DSAAAA", "eJwryEwuKS1KLRg+FADoIFmJ", "K8hMLiktSi0YPhQA",
            "G9EA+CUAqpDBKgFGtAA=", "KLUv/QBYdQAAOHBpY3R1cmUBAEhRxQg=",
            "iw6AH4sIAAAAAAACAyvITC4pLUotGD4UAOGzp2DSAAAAAw==",
        ]
        let list = try #require(ContentCoding.list([codings]))
        let name = "content-\(codings.filter(\.isLetter))"
        fuzzer.run(name, bytes: seeds.compactMap { Data(base64Encoded: $0).map { Array($0) } }) { input in
            let whole = Self.decoding(list, of: [input])
            try hold(whole.bytes.count <= 1 << 20, "\(whole.bytes.count) bytes")
            let divided = Self.decoding(list, of: input.map { [$0] })
            // The place of an error is not exact.
            let isSame = whole.error == nil ? whole == divided : divided.error != nil
            try hold(isSame, "\(whole.bytes.count) bytes, or \(divided.bytes.count) byte by byte")
        }
    }

    private struct Decoding: Equatable {
        var bytes: [UInt8] = []
        var error: OriginError?
        var isComplete = false
    }

    private static func decoding(_ codings: [ContentCoding], of parts: [[UInt8]]) -> Decoding {
        let decoder = ContentDecoder(codings, maxBytes: 1 << 20)
        var decoding = Decoding()
        do throws(OriginError) {
            for part in parts {
                decoder.append(ByteBuffer(bytes: part))
                while let piece = try decoder.next() { decoding.bytes += piece.readableBytesView }
            }
            decoding.isComplete = decoder.isComplete
        } catch {
            decoding.error = error
        }
        return decoding
    }
}
