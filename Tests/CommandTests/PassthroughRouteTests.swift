import DarkroomTransforms
import Foundation
import NIOCore
import Testing

/// `passthrough`, through the built executable with its workers.
@Suite(.timeLimit(.minutes(5)))
struct PassthroughRouteTests {
    private let source = "local:///color/palette.png"

    @Test func `A small source is sent with its own data, and said to be, on misses and hits`() async throws {
        let server = try await DarkroomProcess(["--local-root", URL.fixtures.path])
        let encoded = try await server.image(source)
        #expect(encoded["x-quality"] == nil)
        for _ in 0..<3 {
            let image = try await server.image(source, "passthrough=auto")
            #expect(image.status == 200 && image["content-type"] == "image/png" && image["x-quality"] == "source")
            #expect(image.body.readableBytes < encoded.body.readableBytes)
            #expect(try SourceHeader(of: image.body).size == SourceHeader(of: encoded.body).size)
        }
        let other = try await server.image(source, "passthrough=auto&w=100")
        #expect(other.status == 200 && other["x-quality"] == nil)
        let translated = try await server.image(source, "passthrough=auto", fields: [("Accept", "image/webp")])
        #expect(try await server.image(source, "passthrough=on").status == 400)
        #expect(translated["content-type"] == "image/webp" && translated["x-quality"] == nil)
        #expect(await server.stop() == 0)
    }

    @Test func `A JPEG is sent as JPEG XL of the same data to clients that accept it, and what cannot be is encoded`()
        async throws
    {
        let server = try await DarkroomProcess(["--local-root", URL.fixtures.path, "--formats", "jxl,webp"])
        let browser = [("Accept", "image/jxl,image/avif,image/webp,image/*,*/*;q=0.8")]
        let photo = "local:///formats/progressive.jpg"
        for _ in 0..<2 {
            let image = try await server.image(photo, "passthrough=auto", fields: browser)
            #expect(image.status == 200 && image["content-type"] == "image/jxl" && image["x-quality"] == "source")
            #expect(image.body.readableBytesView.firstRange(of: Array("jbrd".utf8)) != nil)
        }
        let other = try await server.image(photo, "passthrough=auto", fields: [("Accept", "image/webp")])
        #expect(other["content-type"] == "image/webp" && other["x-quality"] == nil)
        for name in ["color/cmyk.jpg", "orientation/f-6.jpg", "sample.jpg"] {
            let image = try await server.image("local:///\(name)", "passthrough=auto&wait=best", fields: browser)
            #expect(image.status == 200 && image["content-type"] == "image/jxl" && image["x-quality"] == nil)
        }
        let damaged = try await server.image("local:///hostile/truncated.jpg", "passthrough=auto", fields: browser)
        #expect(damaged.status == 422)
        #expect(await server.stop() == 0)
    }
}
