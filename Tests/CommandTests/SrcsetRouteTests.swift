import Foundation
import NIOCore
import NIOFoundationCompat
import Testing

/// `GET /srcset` and `placeholder=`, through the built executable and a real socket.
@Suite(.timeLimit(.minutes(5)))
struct SrcsetRouteTests {
    private struct Document: Decodable {
        struct Candidate: Decodable {
            var width: Int
            var url: String
        }

        var src: String
        var html: String
        var picture: String?
        var candidates: [Candidate]
    }

    @Test func `Each address that is given out is a picture of that width`() async throws {
        let server = try await DarkroomProcess(["--local-root", URL.fixtures.path])
        let query = "url=local:///sample.jpg&widths=40,80&output=png&crop=0,0,100,100&a=focal"
        let answer = try await Client.get("\(server.base)/srcset?\(query)")
        #expect(answer.status == 200)
        let document = try JSONDecoder().decode(Document.self, from: answer.body)
        #expect(document.candidates.map(\.width) == [40, 80])
        for candidate in document.candidates {
            let picture = try await Client.get(server.base + candidate.url)
            #expect(picture.status == 200)
            // The width in a PNG's header.
            #expect(picture.body.getInteger(at: 16, as: UInt32.self) == UInt32(candidate.width))
        }
        #expect(await server.stop() == 0)
    }

    @Test func `Every URL of the document and of its picture is answered`() async throws {
        // Long enough for a machine that is busy with other work.
        let flags = ["--local-root", URL.fixtures.path, "--formats", "avif,webp", "--request-timeout", "4m"]
        let server = try await DarkroomProcess(flags)
        for name in [
            "sample.jpg", "formats/photo.avif", "formats/alpha.png", "animation/disposal.gif", "svg/drawing.svg",
        ] {
            let answer = try await Client.get("\(server.base)/srcset?url=local:///\(name)&widths=90,400,1200")
            let document = try JSONDecoder().decode(Document.self, from: answer.body)
            let markup = try #require(document.picture).replacing("&amp;", with: "&")
            let urls = markup.matches(of: /\/image\?[^" ]+/).map { String($0.0) } + document.candidates.map(\.url)
            #expect(markup.contains("image/webp") && !urls.isEmpty)
            for url in Set(urls) {
                for accept in ["*/*", "image/avif,image/webp"] {
                    let image = try await Client.get(server.base + url, fields: [("Accept", accept)])
                    #expect(image.status == 200, "\(url) for \(accept)")
                }
            }
        }
        #expect(await server.stop() == 0)
    }

    @Test func `A public address stands before each of them`() async throws {
        let flags = ["--public-url", "https://img.example.com/", "--local-root", URL.fixtures.path]
        let server = try await DarkroomProcess(flags)
        let answer = try await Client.get("\(server.base)/srcset?url=local:///sample.jpg&widths=40")
        let document = try JSONDecoder().decode(Document.self, from: answer.body)
        #expect(document.src == "https://img.example.com/image?url=local%3A%2F%2F%2Fsample.jpg&w=40")
        #expect(document.html.contains("<img src=\"https://img.example.com/image?url="))
        #expect(try await Client.get("\(server.base)/srcset?widths=40").problem?.parameter == "url")
        #expect(await server.stop() == 0)
    }

    @Test func `A width beyond the source becomes the source's, and the size is in the markup`() async throws {
        let origin = try await PictureOrigin(.picture("formats/photo.jpg"))
        let server = try await DarkroomProcess(["--allow-networks", "127.0.0.0/8"])
        let answer = try await Client.get("\(server.base)/srcset?url=\(origin.url())&widths=320,641,5000")
        let document = try JSONDecoder().decode(Document.self, from: answer.body)
        #expect(document.candidates.map(\.width) == [320, 640])
        #expect(document.html.contains(#"width="640" height="427""#))
        origin.answer("/none.jpg", .status("404 Not Found"))
        let missing = try await Client.get("\(server.base)/srcset?url=\(origin.url("/none.jpg"))")
        #expect(missing.problem?.type == "/problems/source-not-found" && missing.status == 404)
        #expect(await server.stop() == 0)
    }

    @Test func `A picture has the placeholders that the text formats give, in a 304 too`() async throws {
        let server = try await DarkroomProcess(["--local-root", URL.fixtures.path])
        let query = "w=300&flip&output=webp&placeholder=lqip,blurhash,color,thumbhash"
        let picture = try await server.image("local:///sample.jpg", query)
        #expect(picture.status == 200)
        let etag = try #require(picture["etag"])
        let known = try await server.image("local:///sample.jpg", query, fields: [("If-None-Match", etag)])
        #expect(known.status == 304)
        #expect(known["cache-status"]?.contains("hit") == true)
        for name in ["blurhash", "thumbhash", "color", "lqip"] {
            let text = try await server.image("local:///sample.jpg", "w=300&flip&output=\(name)")
            #expect(picture["x-placeholder-\(name)"] == String(buffer: text.body))
            #expect(known["x-placeholder-\(name)"] == String(buffer: text.body))
        }
        #expect(try await server.image("local:///sample.jpg", "w=300&flip&output=webp")["etag"] == etag)
        #expect(await server.stop() == 0)
    }
}
