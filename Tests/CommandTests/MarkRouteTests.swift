import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Testing

/// Marks on the built executable, with an origin that counts its requests.
@Suite(.timeLimit(.minutes(5)))
struct MarkRouteTests {
    private static let token = "a-token-of-enough-letters"
    private let admin = [("Authorization", "Bearer \(Self.token)")]

    private func origin() async throws -> PictureOrigin {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        origin.answer("/logo.png", try .picture("formats/alpha.png", "Cache-Control: max-age=300"))
        return origin
    }

    /// A server on which `logo` names a mark of the origin.
    private func server(_ origin: PictureOrigin, _ flags: [String] = []) async throws -> DarkroomProcess {
        try await DarkroomProcess(
            [
                "--marks", "logo=\(origin.url("/logo.png")),here=local:///formats/alpha.png",
                "--local-root", URL.fixtures.path, "--allow-networks", "127.0.0.0/8", "--admin-token", Self.token,
            ] + flags)
    }

    private func count(_ origin: PictureOrigin, _ path: String) -> Int {
        origin.requests.count { $0.target == path }
    }

    @Test(arguments: ["none", "auto"])
    func `A named mark is drawn, and then source and mark answer from the cache`(isolation: String) async throws {
        let origin = try await origin()
        let server = try await server(origin, ["--isolation", isolation])
        let query = "w=200&mark=logo&markw=30p&output=png"
        let first = try await server.image(origin.url(), query)
        #expect(first.status == 200 && first["content-type"] == "image/png")
        #expect(try await server.image(origin.url(), "w=200&output=png").body != first.body)
        for method in [HTTPMethod.GET, .GET, .HEAD, .GET] {
            let hit = try await server.image(origin.url(), query, method: method)
            #expect(hit.status == 200 && hit["cache-status"]?.contains("darkroom;hit") == true)
            #expect(hit["etag"] == first["etag"] && hit["last-modified"] == nil)
            #expect(hit["cache-control"] == "public, max-age=300")
            if method == .GET { #expect(hit.body == first.body) }
        }
        #expect(count(origin, "/a.jpg") == 1 && count(origin, "/logo.png") == 1)
        // The URL behind the name, and another source for the same bytes.
        for mark in [origin.url("/logo.png"), "here", "local:///formats/alpha.png"] {
            #expect(try await server.image(origin.url(), "w=200&mark=\(mark)&markw=30p&output=png").body == first.body)
        }
    }

    @Test func `The pixels are the same with and without worker processes`() async throws {
        var bodies: [String: Set<Data>] = [:]
        for isolation in ["none", "auto"] {
            let server = try await DarkroomProcess(["--local-root", URL.fixtures.path, "--isolation", isolation])
            for query in [
                "mark=local:///svg/drawing.svg&markw=40p&marka=center", "mark=local:///orientation/f-6.jpg&markh=20p",
                "mark=local:///color/cmyk-profile.jpg&marka=tile&markw=15p&markx=3&markblend=multiply&markalpha=60",
                "mark=local:///formats/alpha.webp&markblend=screen",
            ] {
                let image = try await server.image("local:///sample.jpg", "w=160&output=png&\(query)")
                #expect(image.status == 200, "\(query)")
                bodies[query, default: []].insert(Data(buffer: image.body))
            }
        }
        #expect(bodies.count == 4 && bodies.values.allSatisfy { $0.count == 1 })
    }

    @Test func `A mark that fails is a problem of the mark, whatever the source`() async throws {
        let origin = try await origin()
        origin.answer("/none.png", .status("404 Not Found"))
        origin.answer("/oops.png", .status("500 Oops"))
        let server = try await server(origin, ["--allow-hosts", "127.0.0.1"])
        for (mark, status, detail) in [
            (origin.url("/none.png"), 404, "The watermark cannot be used: The origin has no image at this URL."),
            (origin.url("/oops.png"), 502, "The watermark cannot be used: The origin answered with status 500."),
            ("http://10.1.2.3/a.png", 403, "The watermark cannot be used: The source's host is not allowed."),
            ("local:///hostile/truncated.jpg", 422, "The watermark cannot be used: The source is corrupt"),
            ("local:///hostile/page.png", 415, "The watermark cannot be used: The source is not a JPEG"),
            ("ftp://a/b", 400, ""), ("lgo", 400, "There is no mark 'lgo' on this server. Did you mean 'logo'?"),
        ] {
            let query = "w=50&mark=\(mark)&default=local:///sample.jpg"
            for target in ["/image", "/explain"] where target == "/image" || status < 404 {
                let answer = try await Client.get("\(server.base)\(target)?url=\(origin.url())&\(query)")
                #expect(answer.status == status && answer.problem?.parameter == "mark", "\(mark)")
                #expect(answer.problem?.detail?.hasPrefix(detail) == true, "\(answer.problem?.detail ?? "")")
            }
        }
        #expect(count(origin, "/a.jpg") == 0)
    }

    @Test func `A purge of the mark takes effect for the images that show it`() async throws {
        let origin = try await origin()
        let server = try await server(origin)
        let old = try await server.image(origin.url(), "w=100&mark=logo")
        origin.answer("/logo.png", try .picture("formats/photo.jpg", "Cache-Control: max-age=300"))
        #expect(try await server.image(origin.url(), "w=100&mark=logo").body == old.body)
        let purge = try await Client.get(
            "\(server.base)/cache?url=\(origin.url("/logo.png"))", method: .DELETE, fields: admin)
        #expect(purge.status == 200)
        let new = try await server.image(origin.url(), "w=100&mark=logo")
        #expect(new.status == 200 && new.body != old.body)
        #expect(count(origin, "/a.jpg") == 1 && count(origin, "/logo.png") == 2)
    }

    @Test func `A preset with a mark is all that clients may use`() async throws {
        let origin = try await origin()
        let server = try await server(origin, ["--presets", "shop=w=90&mark=logo", "--presets-only", "true"])
        #expect(try await server.image(origin.url(), "preset=shop").status == 200)
        #expect(try await server.image(origin.url(), "preset=shop&mark=here").status == 403)
        #expect(try await server.image(origin.url(), "preset=shop&markalpha=1").status == 403)
    }

    @Test func `Explanations and markup name the mark, not what its name stands for`() async throws {
        let origin = try await origin()
        let server = try await server(origin)
        let query = "url=\(origin.url())&mark=logo&markw=10p"
        var explanation = try await Client.get("\(server.base)/explain?\(query)&w=80")
        #expect(String(buffer: explanation.body).contains(#""parts":[{"parameter":"mark","url":"logo"}]"#))
        #expect(try await server.image(origin.url(), "w=80&mark=logo&markw=10p").status == 200)
        explanation = try await Client.get("\(server.base)/explain?\(query)&w=80")
        let markup = try await Client.get("\(server.base)/srcset?\(query)&widths=80")
        for answer in [explanation, markup] {
            let text = String(buffer: answer.body)
            #expect(answer.status == 200 && text.contains("mark=logo") && !text.contains("logo.png"))
        }
        #expect(String(buffer: explanation.body).contains(#""parts":[{"digest":""#))
    }
}
