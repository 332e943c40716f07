import DarkroomCache
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomOrigin
import DarkroomPipeline
import DarkroomRequests
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

/// `POST /image`, without pixels.
struct UploadTests {
    private static let bytes: HTTPFields = [.contentType: "image/png"]
    private static let form: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]

    private static func form(_ file: String) -> String {
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\r\n\(file)\r\n--b--\r\n"
    }

    private func site(
        maxBytes: Int = 1 << 20, configured change: (inout WebConfiguration) -> Void = { _ in },
        image: @escaping @Sendable (ImageRequest) throws(PipelineError) -> ImageResponse = { _ in .stub() }
    ) -> TestSite {
        var configuration = WebConfiguration.test(token: "t")
        configuration.uploads = UploadBudget(budgetBytes: 1 << 20, maxSourceBytes: maxBytes)
        change(&configuration)
        return TestSite(configuration: configuration) { request throws(PipelineError) in try image(request) }
    }

    @Test(
        arguments: [
            ([.contentType: "image/png"], "bytes"), ([.contentType: "image/*; q=1"], "bytes"),
            ([.contentType: "application/octet-stream"], "bytes"), ([:], "bytes"), (form, form("bytes")),
            ([.contentType: "image/png", .contentEncoding: "identity"], "bytes"),
        ] as [(HTTPFields, String)])
    func `The body is the source, in any of its forms`(fields: HTTPFields, body: String) async throws {
        let seen = Mutex<ImageRequest?>(nil)
        let site = site(image: { request in
            seen.withLock { $0 = request }
            return .stub()
        })
        let response = try await site.respond("/image?w=40&output=webp", method: .post, fields: fields, body: body)
        #expect(response.status == .ok)
        let request = try #require(seen.withLock { $0 })
        #expect(request.data?.count == 5 && request.source == ImageRequest(data: SourceData(Data("bytes".utf8))).source)
        #expect(request.recipe.box.width == 40 && request.client == "192.0.2.7")
    }

    @Test func `The response is for this client alone, and describes no resource`() async throws {
        let response = try await site().respond("/image", method: .post, fields: Self.bytes, body: "bytes")
        #expect(response.headers[.cacheControl] == "no-store")
        #expect(response.headers[.contentType] == "image/webp")
        for name in [HTTPField.Name.eTag, .lastModified, .age] { #expect(response.headers[name] == nil) }
        #expect(response.headers[.contentSecurityPolicy]?.isEmpty == false)
        let again = try await site().respond(
            "/image?maxage=1h", method: .post, fields: [.contentType: "image/png", .ifNoneMatch: "*"], body: "bytes")
        #expect(again.status == .ok && again.headers[.cacheControl] == "no-store")
    }

    @Test func `A data URL can be asked for`() async throws {
        let response = try await site().respond(
            "/image?encoding=base64", method: .post, fields: Self.bytes, body: "bytes")
        #expect(response.headers[.contentType] == "text/plain")
        #expect(try await response.text().hasPrefix("data:image/webp;base64,"))
    }

    @Test func `A problem does not tell whether the same bytes were uploaded before`() async throws {
        let site = site(image: { _ throws(PipelineError) in throw .remembered(.corrupt, retryAfterSeconds: 9) })
        let response = try await site.respond("/image", method: .post, fields: Self.bytes, body: "bytes")
        #expect(response.status == .unprocessableContent && response.headers[.cacheStatus] == nil)
    }

    @Test func `The status of the caches does not tell whether the same bytes were uploaded before`() async throws {
        for report in [
            CacheReport(forwarded: .bypass), CacheReport(forwarded: .miss, isStored: true),
            CacheReport(variant: .memory),
        ] {
            var report = report
            report.isUpload = true
            let site = site(image: { [report] _ in .stub(cache: report) })
            let response = try await site.respond("/image", method: .post, fields: Self.bytes, body: "bytes")
            #expect(response.headers[.cacheStatus] == "darkroom;fwd=bypass;detail=upload")
        }
    }

    @Test(
        arguments: [
            ([.contentType: "text/plain"], "x", "unsupported-body"),
            ([.contentType: "multipart/mixed; boundary=b"], "x", "unsupported-body"),
            ([.contentType: "application/x-www-form-urlencoded"], "x", "unsupported-body"),
            ([.contentType: "image/png, image/png"], "x", "unsupported-body"),
            ([.contentType: "image/png", .contentEncoding: "gzip"], "x", "unsupported-body"),
            ([.contentType: "multipart/form-data"], "x", "invalid-body"),
            ([.contentType: "multipart/form-data; boundary=\"\""], "x", "invalid-body"),
            (form, "", "invalid-body"), (form, "x", "invalid-body"), (form, form(""), "invalid-body"),
            (form, "--b\r\nContent-Disposition: form-data; name=\"w\"\r\n\r\n4\r\n--b--\r\n", "invalid-body"),
            (bytes, "", "invalid-body"), ([.contentType: "image/png", .contentLength: "6"], "bytes", "invalid-body"),
            ([.contentType: "image/png", .contentLength: "99999999"], "bytes", "source-too-large"),
            (bytes, String(repeating: "x", count: 1001), "source-too-large"),
            (form, form(String(repeating: "x", count: 1001)), "source-too-large"),
        ] as [(HTTPFields, String, String)])
    func `A body that is no image, or not all of one, is refused`(fields: HTTPFields, body: String, kind: String)
        async throws
    {
        let site = site(
            maxBytes: 1000,
            image: { _ in
                Issue.record("an image was made")
                return .stub()
            })
        let problem = try await site.problem("/image", method: .post, fields: fields, body: body)
        #expect(problem.type == "/problems/\(kind)", "\(problem.detail)")
    }

    @Test func `An image of the greatest size is accepted, in a form too`() async throws {
        let site = site(maxBytes: 1000)
        let image = String(repeating: "x", count: 1000)
        #expect(try await site.respond("/image", method: .post, fields: Self.bytes, body: image).status == .ok)
        #expect(
            try await site.respond("/image", method: .post, fields: Self.form, body: Self.form(image)).status == .ok)
    }

    @Test func `The query is checked before the body is read`() async throws {
        for (query, parameter) in [
            ("url=https://example.com/a.jpg", "url"), ("w=0", "w"), ("store=original", "store"), ("wide=4", "wide"),
            ("default=ftp://a", "default"), ("mark=nothing", "mark"),
        ] {
            let problem = try await site().problem(
                "/image?\(query)", method: .post, fields: [.contentType: "text/plain"], body: "x")
            #expect(problem.parameter == parameter && problem.status == 400)
        }
        let refresh = try await site().problem("/image?cache=reload", method: .post, fields: Self.bytes, body: "x")
        #expect(refresh.type == "/problems/refresh-not-allowed")
        let loop = try await site().problem("/image", method: .post, fields: [.via: "1.1 us"], body: "x")
        #expect(loop.type == "/problems/loop")
    }

    @Test func `Uploads are off by default, and a signature does not change that`() async throws {
        let site = TestSite(configuration: try SignatureVectors.all.configuration())
        let problem = try await site.problem("/image?w=4", method: .post, fields: Self.bytes, body: "x")
        #expect(problem.type == "/problems/uploads-disabled" && problem.detail.contains("'uploads'"))
    }

    @Test func `A server with keys transforms only signed uploads, whatever their bytes`() async throws {
        let key = try SigningKey(id: "k1", secret: String(repeating: "s", count: 32))
        let limited = try SigningKey(id: "k2", secret: String(repeating: "t", count: 32), hosts: ["example.com"])
        let site = site(configured: { $0.access.signingKeys = [key, limited] })
        func target(_ query: String, _ key: SigningKey) throws -> String {
            let parameters = try QueryString(parsing: query)
            let signature = key.sign(SignedRequest(path: "/image", parameters: parameters))
            return "/image?\(query)&s=\(signature.text)"
        }
        func post(_ target: String) async throws -> Problem.Document? {
            let response = try await site.respond(target, method: .post, fields: Self.bytes, body: "bytes")
            guard response.status != .ok else { return nil }
            return try JSONDecoder().decode(Problem.Document.self, from: Data(try await response.text().utf8))
        }
        let signed = try target("w=40", key)
        #expect(try await post(signed) == nil)
        #expect(try await post("/image?w=40")?.type == "/problems/signature-required")
        #expect(try await post(signed.replacing("w=40", with: "w=41"))?.type == "/problems/signature-wrong")
        #expect(try await post(try target("w=40&exp=1", key))?.type == "/problems/signature-expired")
        #expect(try await post(try target("w=40", limited))?.type == "/problems/source-not-allowed")
        // What was signed for one method is of no use to the other.
        #expect(try await post(try target("url=https://example.com/a.jpg&w=40", key))?.parameter == "url")
        #expect(try await site.problem(signed).parameter == "url")
        let admin = try await site.respond(
            "/image?w=40", method: .post, fields: [.authorization: "Bearer t"], body: "bytes")
        #expect(admin.status == .ok)
    }

    @Test func `Presets and rates apply as to other images`() async throws {
        var presets = Presets()
        try presets.add("small", "w=40&maxage=1h", limits: QueryLimits())
        let site = site(configured: { [presets] in
            $0.access.presets = presets
            $0.access.presetsOnly = true
            $0.clientLimits.rateLimit = Rate("2/h")
        })
        let small = try await site.respond("/image?preset=small", method: .post, fields: Self.bytes, body: "bytes")
        #expect(small.status == .ok)
        let other = try await site.problem("/image?w=4", method: .post, fields: Self.bytes, body: "bytes")
        #expect(other.type == "/problems/presets-only")
        let again = try await site.respond("/image?preset=small", method: .post, fields: Self.bytes, body: "bytes")
        #expect(again.status == .ok)
        let third = try await site.problem("/image?preset=small", method: .post, fields: Self.bytes, body: "bytes")
        #expect(third.type == "/problems/rate-limited")
    }

    @Test func `Other methods are answered with the methods of the path`() async throws {
        for method in [HTTPRequest.Method.put, .delete, .patch] {
            let response = try await site().respond("/image", method: method, fields: Self.bytes, body: "bytes")
            #expect(response.status == .methodNotAllowed)
            #expect(response.headers[.allow] == "GET, HEAD, POST")
        }
        #expect(try await site().respond("/image", method: .head).status == .badRequest)
        for path in ["/info", "/srcset", "/signed/a/b"] {
            #expect(try await site().respond(path, method: .post, body: "x").status == .methodNotAllowed)
        }
    }

    @Test func `A problem of the image is the one of any source`() async throws {
        let site = site(image: { _ throws(PipelineError) in throw .corrupt })
        let problem = try await site.problem("/image", method: .post, fields: Self.bytes, body: "bytes")
        #expect(problem.type == "/problems/corrupt-image")
    }

    @Test func `An upload is refused unread while there is no room for it`() async throws {
        var endpoints = Endpoints.idle()
        var configuration = WebConfiguration.test(token: nil)
        configuration.uploads = UploadBudget(budgetBytes: 1000, maxSourceBytes: 1000)
        endpoints.image = ImageEndpoint(configuration: configuration) { _ in .stub() }
        endpoints.image.refusalOfUpload = { _ in .overloaded(retryAfterSeconds: 3) }
        let site = TestSite(endpoints, configuration: configuration)
        let response = try await site.respond("/image", method: .post, fields: Self.bytes, body: "bytes")
        #expect(response.status == .serviceUnavailable && response.headers[.retryAfter] == "3")
    }

    @Test func `The bytes of an upload count until they are released`() async throws {
        let budget = UploadBudget(budgetBytes: 1 << 20, maxSourceBytes: 1000)
        func collected() async throws -> (Any, ByteReservation) {
            var collector = budget.makeCollector(for: "a")
            try await collector.append(ByteBuffer(string: "bytes"))
            #expect(budget.usedBytes > 0)
            return collector.finish()
        }
        var finished: (Any, ByteReservation)? = try await collected()
        #expect(budget.usedBytes == 5 && finished != nil)
        finished = nil
        #expect(budget.usedBytes == 0)
    }
}
