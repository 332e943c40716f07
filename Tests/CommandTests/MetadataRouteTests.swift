import Foundation
import NIOCore
import Testing

/// `metadata`, through the built executable with its workers.
@Suite(.timeLimit(.minutes(5)))
struct MetadataRouteTests {
    @Test func `Rights leave with an image, EXIF by request, and a position never`() async throws {
        let server = try await DarkroomProcess(["--local-root", URL.fixtures.path])
        for (query, hasRights, hasDescription) in [
            ("", true, false), ("&metadata=rights", true, false), ("&metadata=all", true, true),
            ("&metadata=none", false, false),
        ] {
            let image = try await server.image("local:///sample.jpg", "w=200&output=webp\(query)")
            let text = String(decoding: image.body.readableBytesView, as: UTF8.self)
            #expect(image.status == 200 && text.contains("Darkroom contributors") == hasRights, "\(query)")
            #expect(text.contains("A lake at dusk") == hasDescription && !text.contains("GPS"), "\(query)")
        }
        #expect(try await server.image("local:///sample.jpg", "metadata=keep").status == 400)
        #expect(await server.stop() == 0)
    }

    @Test func `The setting labels images of generative models, and no others`() async throws {
        let folder = try URL.temporaryFolder()
        let photo = try Data(contentsOf: URL.fixtures.appendingPathComponent("formats/photo.jpg"))
        let packet = """
            http://ns.adobe.com/xap/1.0/\0<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description \
            xmlns:e="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" e:DigitalSourceType=\
            "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"/></r:RDF>
            """
        let length = packet.utf8.count + 2
        let segment = [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + Array(packet.utf8)
        try (photo.prefix(2) + segment + photo.dropFirst(2)).write(to: folder.appendingPathComponent("made.jpg"))
        try photo.write(to: folder.appendingPathComponent("photo.jpg"))
        var bodies: [[ByteBuffer]] = []
        for flags in [[], ["--ai-label", "top-left"]] {
            let server = try await DarkroomProcess(["--local-root", folder.path] + flags)
            let images = try await [
                server.image("local:///made.jpg", "w=200&output=png&metadata=none"),
                server.image("local:///photo.jpg", "w=200&output=png&metadata=none"),
            ]
            #expect(images.map(\.status) == [200, 200])
            bodies.append(images.map(\.body))
            #expect(await server.stop() == 0)
        }
        #expect(bodies[0][0] == bodies[0][1] && bodies[1][1] == bodies[0][1])
        #expect(bodies[1][0] != bodies[0][0])
    }
}
