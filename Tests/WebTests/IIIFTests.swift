import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomRequests
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Testing

@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

/// The endpoints of the IIIF Image API, on stubs.
struct IIIFTests {
    private static let image = "/iiif/shop:a.jpg"
    private static let token = "correct-horse-battery"

    private final class Requests: Sendable {
        let all = Mutex<[ImageRequest]>([])
    }

    private func configuration(_ change: (inout WebConfiguration) -> Void = { _ in }) throws -> WebConfiguration {
        var configuration = WebConfiguration.test(token: Self.token)
        configuration.servesIIIF = true
        configuration.publicURL = "https://img.example.com"
        try configuration.sourceMap.add("shop", "https://shop.example.com/private/")
        change(&configuration)
        return configuration
    }

    /// A site whose sources are 600×400 pixels.
    private func site(_ configuration: WebConfiguration, _ requests: Requests = Requests()) -> TestSite {
        TestSite(configuration: configuration) { request throws(PipelineError) in
            requests.all.withLock { $0.append(request) }
            if request.source.path.hasSuffix("none.jpg") { throw .notFound(status: 404) }
            let space = request.source.path.hasSuffix("gray.jpg") ? "grey" : "rgb"
            let width = request.source.path.hasSuffix("lying.jpg") ? Int.max : 600
            let document = #"{"upright_width":\#(width),"upright_height":400,"color_space":"\#(space)"}"#
            return .stub(body: request.output.format == .json ? document : "bytes")
        }
    }

    private func document(_ response: Response) async throws -> [String: Any] {
        try #require(
            JSONSerialization.jsonObject(with: Data(try await response.text().utf8)) as? [String: Any])
    }

    @Test(arguments: [image, image + "/info.json", image + "/full/max/0/default.jpg"])
    func `A server that does not serve IIIF says so`(path: String) async throws {
        let problem = try await site(try configuration { $0.servesIIIF = false }).problem(path)
        #expect(problem.type == "https://img.example.com/problems/iiif-disabled" && problem.status == 403)
    }

    @Test func `The base URI redirects to the document`() async throws {
        let response = try await site(try configuration()).respond("/iiif/shop:a%2Fb.jpg")
        #expect(response.status == .seeOther)
        #expect(response.headers[.location] == "https://img.example.com/iiif/shop:a%2Fb.jpg/info.json")
        #expect(response.headers[.cacheControl] == "public, max-age=3600")
    }

    @Test func `No cache keeps a URI whose host a client has chosen`() async throws {
        let site = site(try configuration { $0.publicURL = nil })
        #expect(try await site.respond(Self.image + "/info.json").headers[.cacheControl] == "no-store")
        #expect(try await site.respond(Self.image).headers[.location] == Self.image + "/info.json")
        let image = try await site.respond(Self.image + "/full/max/0/default.jpg")
        #expect(image.headers[.cacheControl] != "no-store")
        #expect(image.headers[.init("Link")!]?.contains("<\(Self.image)/full/") == true)
    }

    @Test func `The document describes the image and the server`() async throws {
        let limits = PixelLimits(maxOutputSide: 500, maxOutputPixels: 90_000)
        let response = try await site(try configuration { $0.pixelLimits = limits }).respond(Self.image + "/info.json")
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == IIIFMediaType.linkedData.rawValue)
        #expect(response.headers[.vary] == "Accept")
        #expect(response.headers[.init("Link")!] == #"<http://iiif.io/api/image/3/level2.json>;rel="profile""#)
        let text = try await response.text()
        #expect(text.hasPrefix(#"{"@context":"http://iiif.io/api/image/3/context.json","#))
        let document = try await document(response)
        #expect(document["id"] as? String == "https://img.example.com/iiif/shop:a.jpg")
        #expect(document["type"] as? String == "ImageService3")
        #expect(document["protocol"] as? String == "http://iiif.io/api/image")
        #expect(document["profile"] as? String == "level2")
        #expect(document["width"] as? Int == 600 && document["height"] as? Int == 400)
        #expect(document["maxWidth"] as? Int == 500 && document["maxArea"] as? Int == 90_000)
        #expect(
            document["sizes"] as? [[String: Int]] == [
                ["width": 75, "height": 50], ["width": 150, "height": 100], ["width": 300, "height": 200],
            ])
        let tiles = try #require((document["tiles"] as? [[String: Any]])?.first)
        #expect(tiles["width"] as? Int == 300 && tiles["height"] as? Int == 300)
        #expect(tiles["scaleFactors"] as? [Int] == [1, 2])
        #expect(document["extraFormats"] as? [String] == ["webp", "gif", "tif", "avif", "jxl"])
        #expect(document["extraQualities"] as? [String] == ["color", "gray", "bitonal"])
        #expect(document["rights"] == nil)
        let gray = try await site(try configuration()).respond("/iiif/shop:gray.jpg/info.json")
        #expect(try await self.document(gray)["extraQualities"] as? [String] == ["gray", "bitonal"])
    }

    @Test func `An impossible size from a compromised worker is an error, not a crash`() async throws {
        let problem = try await site(try configuration()).problem("/iiif/shop:lying.jpg/info.json")
        #expect(problem.status == 500)
    }

    @Test func `The document is plain JSON where the client prefers it, with an entity tag of its own`() async throws {
        let site = site(try configuration())
        let plain = try await site.respond(Self.image + "/info.json", fields: [.accept: "application/json"])
        #expect(plain.headers[.contentType] == "application/json")
        let linked = try await site.respond(Self.image + "/info.json")
        let tag = try #require(linked.headers[.eTag])
        #expect(plain.headers[.eTag] != tag)
        #expect(try await plain.text() == linked.text())
        let known = try await site.respond(Self.image + "/info.json", fields: [.ifNoneMatch: tag])
        #expect(known.status == .notModified && known.headers[.contentType] == nil)
        #expect(linked.headers[.lastModified] == nil)
    }

    @Test func `Without a public URL, the id has the host of the request`() async throws {
        let configuration = try configuration { ($0.publicURL, $0.basePath) = (nil, "/images") }
        let response = try await site(configuration).respond("/iiif/shop:a%2Db.jpg/info.json")
        #expect(try await document(response)["id"] as? String == "http://localhost/images/iiif/shop:a%2Db.jpg")
    }

    @Test func `Without a public URL, a trusted proxy states scheme and host of the id`() async throws {
        let networks = [try CIDR(parsing: "192.0.2.0/24")]
        let fields: HTTPFields = [
            try #require(.init("X-Forwarded-Proto")): "https", try #require(.init("X-Forwarded-Host")): "b.example",
        ]
        for (trusted, base) in [(networks, "https://b.example"), ([], "http://localhost")] {
            let configuration = try configuration { ($0.publicURL, $0.clientLimits.trustedProxies) = (nil, trusted) }
            let response = try await site(configuration).respond(Self.image + "/info.json", fields: fields)
            #expect(try await document(response)["id"] as? String == base + Self.image)
        }
        let named = try await site(try configuration { $0.clientLimits.trustedProxies = networks })
            .respond(Self.image + "/info.json", fields: fields)
        #expect(try await document(named)["id"] as? String == "https://img.example.com" + Self.image)
    }

    @Test func `An image is made of the source's size, and states its canonical URI`() async throws {
        let requests = Requests()
        let site = site(try configuration(), requests)
        let response = try await site.respond(Self.image + "/square/pct%3A50/!90/gray.png")
        #expect(response.status == .ok)
        #expect(try await response.text() == "bytes")
        #expect(
            response.headers[.init("Link")!]
                == #"<http://iiif.io/api/image/3/level2.json>;rel="profile", "#
                + #"<https://img.example.com/iiif/shop:a.jpg/100,0,400,400/200,200/!90/gray.png>;rel="canonical""#)
        let made = try #require(requests.all.withLock { $0 }.last)
        #expect(made.source.canonical == "https://shop.example.com/private/a.jpg")
        #expect(made.recipe.crop == Crop(x: 100, y: 0, width: 400, height: 400))
        #expect(made.recipe.box == Box(width: 200, height: 200) && made.recipe.flop)
        #expect(made.output.format == .png && made.client == "192.0.2.7")
        #expect(requests.all.withLock { $0.count } == 2)
    }

    @Test(arguments: [
        ("600,0,9,9/max/0/default.jpg", "region"), ("full/601,/0/default.jpg", "size"),
        ("full/max/361/default.jpg", "rotation"), ("full/max/0/native.jpg", "quality"),
        ("full/max/0/default.jp2", "format"), ("full/max/0/default", "format"), ("%zz/max/0/default.jpg", "region"),
        ("full/max/0/default.jpg?s=1", nil),
    ])
    func `A problem names the part of the path at fault`(path: String, parameter: String?) async throws {
        let requests = Requests()
        let problem = try await site(try configuration(), requests).problem("\(Self.image)/\(path)")
        #expect(problem.type == "https://img.example.com/problems/invalid-parameter" && problem.parameter == parameter)
        let isOfImage = ["600,", "full/601"].contains { path.hasPrefix($0) }
        #expect(requests.all.withLock { $0.count } == (isOfImage ? 1 : 0))
    }

    @Test(arguments: [
        ("b2a2c1de-d1b0-11e1-89ae-279075081939", 404, "source-not-found"), ("other:a.jpg", 404, "source-not-found"),
        ("%5Bfrob%5D", 404, "source-not-found"), ("https%3A%2F%2F%5B", 400, "invalid-url"),
        ("shop:..%2Fa.jpg", 400, "invalid-url"), ("shop:%ff", 400, "invalid-parameter"),
        ("shop:none.jpg", 404, "source-not-found"),
    ])
    func `An identifier that names no source is a problem`(identifier: String, status: Int, type: String) async throws {
        for rest in ["/info.json", "/full/max/0/default.jpg"] {
            let problem = try await site(try configuration()).problem("/iiif/\(identifier)\(rest)")
            #expect(problem.status == status && problem.type == "https://img.example.com/problems/\(type)")
            #expect(problem.parameter == "identifier")
        }
    }

    @Test(arguments: ["/iiif/a/b/full/max/0/default.jpg", "/iiif", "/iiif/a/full/max/0", "/iiif/a/info.xml"])
    func `Other paths are unknown`(path: String) async throws {
        #expect(
            try await site(try configuration()).problem(path).type == "https://img.example.com/problems/no-such-route")
    }

    @Test func `Scripts of all sites may read every response, whatever other paths allow`() async throws {
        let site = site(try configuration { $0.access.origins = .listed(["https://a.example.com"]) })
        for path in ["", "/info.json", "/full/max/0/default.jpg", "/full/0,/0/default.jpg"] {
            for method in [HTTPRequest.Method.get, .head, .options] {
                let fields = try await site.respond(Self.image + path, method: method).headers
                #expect(fields[.accessControlAllowOrigin] == "*")
                #expect(fields[.accessControlExposeHeaders]?.contains("Link") == true)
                #expect(fields[.vary]?.contains("Origin") != true)
            }
        }
        let other = try await site.respond("/image?url=https://example.com/a.jpg", fields: [.origin: "https://b.org"])
        #expect(other.headers[.accessControlAllowOrigin] == nil)
    }

    @Test func `Where others are signed, only sources with a short name are open`() async throws {
        let key = try SigningKey(id: "k1", secret: "correct-horse-battery-staple-0123")
        let site = site(try configuration { $0.access.signingKeys = [key] })
        let url = "/iiif/https%3A%2F%2Fshop.example.com%2Fprivate%2Fa.jpg"
        for rest in ["", "/info.json", "/full/max/0/default.jpg"] {
            #expect(try await site.respond(Self.image + rest).status.code < 400)
            #expect(try await site.problem(url + rest).type == "https://img.example.com/problems/signature-required")
            let response = try await site.respond(url + rest, fields: [.authorization: "Bearer \(Self.token)"])
            #expect(response.status.code < 400)
        }
        let open = try await site.respond(Self.image + "/info.json")
        #expect(open.headers[.cacheControl]?.contains("public") == true)
    }

    @Test func `A server of presets makes no other images`() async throws {
        let site = site(try configuration { $0.access.presetsOnly = true })
        #expect(
            try await site.problem(Self.image + "/full/max/0/default.jpg").type
                == "https://img.example.com/problems/presets-only")
    }

    @Test func `A request that has passed through this server is a loop`() async throws {
        let problem = try await site(try configuration()).problem(Self.image, fields: [.via: "1.1 us"])
        #expect(problem.type == "https://img.example.com/problems/loop")
    }

    @Test func `A host that no URI can have is refused`() async throws {
        let configuration = try configuration { $0.publicURL = nil }
        let head = HTTPRequest(method: .get, scheme: "http", authority: "a>b", path: Self.image + "/info.json")
        let response = await site(configuration).listener.response(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), from: nil, id: "7")
        #expect(response.status == .badRequest)
    }
}
