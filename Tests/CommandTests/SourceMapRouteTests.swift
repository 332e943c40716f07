import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Testing

/// `source-map` on the built executable, with a web server and local files behind the names.
@Suite(.timeLimit(.minutes(5)))
struct SourceMapRouteTests {
    private static let token = "a-token-of-enough-letters"
    private let admin = [("Authorization", "Bearer \(Self.token)")]

    /// A server on which `cdn` stands for a folder of the origin, and `pics` for the fixtures.
    private func server(_ origin: PictureOrigin, _ flags: [String] = []) async throws -> DarkroomProcess {
        try await DarkroomProcess(
            [
                "--source-map", "cdn=\(origin.url("/private/")),pics=local:///", "--local-root", URL.fixtures.path,
                "--allow-networks", "127.0.0.0/8", "--admin-token", Self.token,
            ] + flags)
    }

    private func get(
        _ server: DarkroomProcess, _ target: String, method: HTTPMethod = .GET, body: String? = nil
    ) async throws -> Answer {
        try await Client.get(server.base + target, method: method, fields: admin)
    }

    @Test func `A name and its URL share entries, and a purge by either removes them`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=60"))
        let server = try await server(origin)
        for url in ["cdn:a.jpg", origin.url("/private/a.jpg")] {
            #expect(try await server.image("cdn:a.jpg", "w=20")["cache-status"]?.contains("fwd=miss") == true)
            let long = try await server.image(origin.url("/private/a.jpg"), "w=20")
            #expect(long["cache-status"]?.contains("darkroom;hit") == true)
            let purge = try await get(server, "/cache?url=\(url)", method: .DELETE)
            #expect(String(buffer: purge.body).contains("\"sources\":1"))
        }
        #expect(try await server.image("cdn:a.jpg", "w=20").status == 200)
        let purge = try await get(server, "/cache?prefix=cdn:", method: .DELETE)
        #expect(String(buffer: purge.body).contains("\"sources\":1"))
        #expect(try await get(server, "/cache?prefix=other:a", method: .DELETE).status == 400)
        #expect(try await server.image("PICS:sample.jpg", "w=20").status == 200)
        #expect(origin.count == 3)
    }

    @Test func `Clients do not learn what a name stands for`() async throws {
        let origin = try await PictureOrigin(.picture())
        for (path, status) in [("404", "404 Not Found"), ("403", "403 Forbidden"), ("500", "500 Oops")] {
            origin.answer("/private/\(path)", .status(status))
        }
        origin.answer("/private/elsewhere", .status("302 Found", "Location: http://10.9.8.7/private/"))
        let server = try await server(origin, ["--allow-hosts", "none.example"])
        let targets = [
            "/image?url=cdn:a.jpg&w=20", "/info?url=cdn:a.jpg", "/explain?url=cdn:a.jpg&w=20&default=cdn:b.jpg",
            "/explain?url=cdn:new.jpg&fetch=true", "/srcset?url=cdn:a.jpg&widths=20", "/image?url=cdn:404",
            "/image?url=cdn:403", "/image?url=cdn:500", "/image?url=cdn:elsewhere", "/image?url=cdn:../a.jpg",
            "/image?url=cdn:/a.jpg", "/image?url=cdn:", "/image?url=pics:none.jpg", "/explain?url=pics:sample.jpg",
            "/image?url=cdn:404&default=cdn:a.jpg&w=20", "/image?url=cdn:a.jpg&default=cdn:..",
        ]
        for target in targets {
            let answer = try await Client.get(server.base + target)
            let text = (String(buffer: answer.body) + answer.fields.description).replacing(server.base, with: "")
            for secret in ["127.0.0.1", "private", ":\(origin.origin.port)", "10.9.8.7", "local:///"] {
                #expect(!text.contains(secret), "\(target) tells \(secret)")
            }
        }
        let explanation = String(buffer: try await get(server, "/explain?url=CDN:a.jpg&w=20").body)
        #expect(explanation.contains(#""url":"cdn:a.jpg""#))
        #expect(explanation.contains(#""identity":"cdn:a.jpg""#))
    }

    @Test func `A mapped host need not be listed, but redirects out of it must be`() async throws {
        let origin = try await PictureOrigin(.picture())
        origin.answer("/private/out", .status("302 Found", "Location: /other.jpg"))
        origin.answer("/private/in", .status("302 Found", "Location: /private/a.jpg"))
        let server = try await server(origin, ["--allow-hosts", "none.example"])
        for (source, status) in [
            ("cdn:a.jpg", 200), (origin.url("/private/a.jpg"), 200), ("cdn:in", 200), ("cdn:out", 403),
            (origin.url("/a.jpg"), 403), (origin.url("/private/..%2fa.jpg"), 403),
            (origin.url("/private/../a.jpg"), 403),
        ] {
            #expect(try await server.image(source, "w=20").status == status, "\(source)")
        }
        #expect(origin.requests.allSatisfy { $0.target.hasPrefix("/private/") })
    }

    @Test func `An address that is not public needs its own permission`() async throws {
        let origin = try await PictureOrigin(.picture())
        let server = try await DarkroomProcess(["--source-map", "cdn=\(origin.url("/"))"])
        #expect(try await server.image("cdn:a.jpg").status == 403)
        #expect(origin.count == 0)
    }

    @Test func `Signatures are made for names as they are given`() async throws {
        let origin = try await PictureOrigin(.picture())
        let key = "k1:0123456789abcdef0123456789abcdef"
        let map = "cdn=\(origin.url("/private/"))"
        let server = try await server(origin, ["--signing-keys", key])
        let environment = ["DARKROOM_SIGNING_KEYS": key, "DARKROOM_SOURCE_MAP": map]
        let signed = try DarkroomProcess.run(["sign", "url=cdn:a.jpg&w=20"], environment: environment)
        #expect(signed.status == 0)
        let target = signed.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(target.contains("url=cdn"))
        #expect(try await Client.get(server.base + target).status == 200)
        let long = target.replacing("cdn:a.jpg", with: origin.url("/private/a.jpg"))
            .replacing("cdn%3Aa.jpg", with: origin.url("/private/a.jpg"))
        #expect(long != target)
        #expect(try await Client.get(server.base + long).status == 403)
        let unknown = try DarkroomProcess.run(["sign", "url=shop:a.jpg"], environment: environment)
        #expect(unknown.status != 0)
    }
}
