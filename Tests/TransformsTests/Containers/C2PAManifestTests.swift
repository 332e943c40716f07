import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Files with a C2PA manifest, and files with something that looks like it.
struct C2PAManifestTests {
    /// A box of JUMBF with a description of this type.
    private static func box(_ type: String = "c2pa") -> [UInt8] {
        let description = [0, 0, 0, 25] + Array("jumd\(type)".utf8) + [UInt8](repeating: 7, count: 13)
        return [0, 0, 0, UInt8(8 + description.count)] + Array("jumb".utf8) + description
    }

    private static func image(_ format: OutputFormat) throws -> ByteBuffer {
        try produce(Drawing.flat(20, 10, [200, 30, 30]).png(), output: OutputOptions(format: format)).body
    }

    private static func jpeg(_ box: [UInt8]) throws -> ByteBuffer {
        var file = JPEGFile(try image(.jpeg))
        file.insert(0xEB, Array("JP".utf8) + [0, 1, 0, 0, 0, 1] + box, at: 1)
        return file.bytes
    }

    private static func png() throws -> ByteBuffer {
        var file = PNGFile(try image(.png))
        file.insert("caBX", box(), before: "IDAT")
        return file.bytes
    }

    private static func webp() throws -> ByteBuffer {
        let packet = XMPPacket.make([.creator: "Zoë"])
        var file = WebPFile(try #require(WebPContainer.adding(xmp: packet, to: image(.webp))))
        file.chunks.append(WebPFile.Chunk(name: "C2PA", content: box()))
        return file.bytes
    }

    private static func gif() throws -> ByteBuffer {
        let data = [0x21, 0xFF, 11] + Array("C2PA_GIF".utf8) + [1, 0, 0, 3, 1, 2, 3, 0, 0x3B]
        return ByteBuffer(bytes: try Array(image(.gif).readableBytesView).dropLast() + data)
    }

    private static func avif(_ first: UInt8 = 0xD8) throws -> ByteBuffer {
        let type: [UInt8] = [
            first, 0xFE, 0xC3, 0xD6, 0x1B, 0x0E, 0x48, 0x3C, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7E, 0xC4, 0x81,
        ]
        var file = try image(.avif)
        file.writeISOBox("uuid") { $0.writeBytes(type + box()) }
        return file
    }

    private static func jxl() throws -> ByteBuffer {
        let packet = XMPPacket.make([.creator: "Zoë"])
        return try #require(JPEGXLContainer.adding(xmp: packet, to: image(.jxl))).followed(by: box())
    }

    private func isReported(_ file: ByteBuffer) throws -> Bool? {
        let document = try produce(file, output: OutputOptions(format: .json)).body
        let json = try JSONSerialization.jsonObject(with: Data(document.readableBytesView))
        return (json as? [String: Any])?["c2pa"] as? Bool
    }

    static let files: [@Sendable () throws -> ByteBuffer] = [
        { try jpeg(box()) }, { try png() }, { try webp() }, { try gif() }, { try avif() }, { try jxl() },
    ]

    @Test(arguments: files)
    func `A manifest is reported, and no result has it`(_ make: @Sendable () throws -> ByteBuffer) throws {
        let file = try make()
        #expect(try isReported(file) == true)
        for policy in MetadataPolicy.allCases {
            for format in ResultMetadataTests.formats.map(Optional.some) + [nil] {
                let output = OutputOptions(format: format, passthrough: .auto, metadata: policy)
                #expect(try isReported(produce(file, output: output).body) == false)
            }
        }
    }

    @Test func `Other boxes, and files without any, have no manifest`() throws {
        #expect(try isReported(Self.jpeg(Self.box("abcd"))) == false)
        #expect(try isReported(Self.avif(0xD9)) == false)
        for format in ResultMetadataTests.formats { #expect(try isReported(Self.image(format)) == false) }
    }

    @Test func `A TIFF has its manifest in a field`() {
        let field: [UInt8] = [0x41, 0xCD, 7, 0, 4, 0, 0, 0, 1, 2, 3, 4]
        let file = ByteBuffer(bytes: Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0] + field + [0, 0, 0, 0])
        #expect(C2PAManifest.isPresent(in: file, .tiff))
    }
}
