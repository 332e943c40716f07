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

@testable import DarkroomWeb

struct ImageEndpointTests {
    private let source = "/image?url=https%3A%2F%2Fexample.com%2Fa.jpg%3Fx%3D1"
    private let etag = "\"0123456789abcdef0123456789abcdef\""
    private let site = TestSite { _ in .stub(lastModified: ImageResponse.madeAt.addingTimeInterval(-3_600)) }

    @Test func `An image has its bytes and all fields for caches and browsers`() async throws {
        let response = try await site.respond(source + "&filename=a.webp")
        #expect(response.status == .ok)
        #expect(try await response.text() == "bytes")
        let expected: HTTPFields = [
            .contentType: "image/webp", .contentLength: "5", .eTag: etag, .cacheControl: "public, max-age=3600",
            .age: "90", .lastModified: "Sun, 06 Nov 1994 07:49:37 GMT", .vary: "Accept",
            .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; sandbox",
            .crossOriginResourcePolicy: "cross-origin", .referrerPolicy: "no-referrer",
            .contentDisposition: "inline; filename=\"a.webp\"",
            .cacheStatus: "darkroom;hit;ttl=3510;detail=memory",
            .serverTiming: "fetch;dur=31.250, process;dur=12.000, total;dur=44.007", .requestID: "request-7",
            .server: "darkroom",
        ]
        var fields = response.headers
        #expect(fields[.date]?.hasSuffix(" GMT") == true)
        fields[.date] = nil
        #expect(fields == expected)
    }

    @Test(arguments: [
        ("K%C3%B6ln.*", "filename=\"K_ln.webp\"; filename*=UTF-8''K%C3%B6ln.webp"),
        ("%E5%86%99.jpg&attachment", "filename=\"_.jpg\"; filename*=UTF-8''%E5%86%99.jpg"),
        ("a.jpg", "filename=\"a.jpg\""),
    ])
    func `A file name beyond ASCII is sent in its own parameter`(query: String, parameters: String) async throws {
        let response = try await site.respond(source + "&output=webp&filename=" + query)
        let type = query.hasSuffix("attachment") ? "attachment" : "inline"
        #expect(response.headers[.contentDisposition] == "\(type); \(parameters)")
    }

    @Test func `Fields that are unknown, not requested or not negotiated are omitted`() async throws {
        let site = TestSite { _ in .stub() }
        let fields = try await site.respond(source + "&output=webp").headers
        #expect(fields[.lastModified] == nil)
        #expect(fields[.vary] == nil)
        #expect(fields[.contentDisposition] == "inline")
    }

    @Test func `A client that has the image gets a 304`() async throws {
        for fields: HTTPFields in [
            [.ifNoneMatch: etag], [.ifNoneMatch: "W/" + etag], [.ifNoneMatch: "*"],
            [.ifModifiedSince: "Sun, 06 Nov 1994 07:49:37 GMT"],
        ] {
            let response = try await site.respond(source, fields: fields)
            #expect(response.status == .notModified)
            #expect(try await response.text() == "")
            #expect(response.headers[.eTag] == etag)
            #expect(response.headers[.cacheControl] == "public, max-age=3600")
            #expect(response.headers[.vary] == "Accept")
            #expect(response.headers[.cacheStatus] == "darkroom;hit;ttl=3510;detail=memory")
            #expect(response.headers[.contentLength] == nil)
            #expect(response.headers[.contentType] == nil)
        }
        #expect(try await site.respond(source, fields: [.ifNoneMatch: "\"other\""]).status == .ok)
    }

    @Test func `HEAD responds like GET without the body`() async throws {
        for target in [source, source + "&w=0", "/nowhere", "/health/live", "/openapi.yaml"] {
            let get = try await site.respond(target)
            let head = try await site.respond(target, method: .head)
            #expect(head.status == get.status)
            #expect(head.headers == get.headers)
            #expect(try await head.text() == "")
            #expect(try await get.bytes().readableBytes == Int(get.headers[.contentLength] ?? ""))
        }
    }

    @Test func `The pipeline gets the query's and the client's requirements`() async throws {
        let asked = Mutex<[ImageRequest]>([])
        let site = TestSite { request in
            asked.withLock { $0.append(request) }
            return .stub()
        }
        _ = try await site.respond(source + "&w=40&q=50&page=2", fields: [.accept: "image/webp,*/*"])
        _ = try await site.respond(source + "&w=40&output=png")
        let requests = asked.withLock { $0 }
        #expect(requests.map(\.source.canonical) == Array(repeating: "https://example.com/a.jpg?x=1", count: 2))
        #expect(requests.map(\.recipe.box.width) == [40, 40])
        #expect(requests.map(\.pages.first) == [2, PageSelection.primary])
        let webp = OutputOptions(format: .webp, quality: 50, alternative: .natural)
        #expect(requests.map(\.output) == [webp, OutputOptions(format: .png)])
    }

    @Test func `/info is the document of the unprocessed image with the same keys`() async throws {
        let asked = Mutex<[ImageRequest]>([])
        let site = TestSite { request in
            asked.withLock { $0.append(request) }
            var picture = ImageResponse.stub(body: "{}")
            picture.format = .json
            return picture
        }
        for path in ["/info?", "/image?output=json&"] {
            let response = try await site.respond(path + "url=https%3A%2F%2Fexample.com%2Fa.jpg&fields=color")
            #expect(response.status == .ok)
            #expect(response.headers[.contentType] == "application/json")
            #expect(response.headers[.eTag] == etag)
            #expect(response.headers[.vary] == nil)
        }
        let requests = asked.withLock { $0 }
        #expect(requests.map(\.output) == Array(repeating: OutputOptions(format: .json, details: .color), count: 2))
        #expect(requests.map(\.recipe) == Array(repeating: Recipe(), count: 2))
        #expect(try await site.problem("/info?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=1").parameter == "w")
    }

    @Test func `GPS positions are requested only if the server discloses them`() async throws {
        let asked = Mutex<[ImageRequest]>([])
        let source = "/info?url=https%3A%2F%2Fexample.com%2Fa.jpg&fields=color"
        for mayTell in [false, true] {
            let site = TestSite(configuration: WebConfiguration(allowGPS: mayTell)) { request in
                asked.withLock { $0.append(request) }
                return .stub(body: "{}")
            }
            #expect(try await site.respond(source + "&gps=false").status == .ok)
            #expect(try await site.respond(source + "&gps").status == (mayTell ? .ok : .forbidden))
            guard !mayTell else { continue }
            let problem = try await site.problem(source + "&gps=true")
            #expect(problem.type == "/problems/gps-not-allowed")
            #expect(problem.parameter == "gps")
        }
        let details = asked.withLock { $0.map(\.output.details) }
        #expect(details == [.color, .color, [.color, .position]])
    }

    @Test(arguments: ["1.1 us", "1.0 fred, 1.1 us (Darkroom)", "HTTP/1.1\tus", "1.1 fred,1.1 us"])
    func `A request that already passed through this server is a loop`(via: String) async throws {
        let response = try await site.respond(source, fields: [.via: via])
        #expect(response.status.code == 508)
        #expect(response.headers[.contentType] == "application/problem+json")
    }

    @Test(arguments: ["1.1 them", "1.1 us2", "us", "1.1 them (us)", "1.1 US"])
    func `Another server in Via is not a loop`(via: String) async throws {
        #expect(try await site.respond(source, fields: [.via: via]).status == .ok)
    }

    @Test func `A failure of a negotiated format varies by Accept`() async throws {
        let site = TestSite { _ throws(PipelineError) in throw .corrupt }
        #expect(try await site.respond(source).headers[.vary] == "Accept, Sec-Fetch-Dest")
        #expect(try await site.respond(source + "&output=png").headers[.vary] == "Accept, Sec-Fetch-Dest")
        #expect(try await site.respond(source + "&w=0").headers[.vary] == "Accept, Sec-Fetch-Dest")
    }

    @Test func `A target that is too long is refused as such`() async throws {
        let response = try await site.respond(source + "&" + String(repeating: "a", count: 33_000))
        #expect(response.status == .uriTooLong)
    }

    @Test(arguments: ["ftp://example.com/a", "a.jpg", "https://", "file:///etc/passwd"])
    func `An invalid source URL is a problem of parameter url`(url: String) async throws {
        let response = try await site.respond("/image?url=" + url)
        let problem = try JSONDecoder().decode(Problem.Document.self, from: Data(try await response.text().utf8))
        #expect(problem.status == 400)
        #expect(problem.type == "/problems/invalid-url")
        #expect(problem.parameter == "url")
    }

    @Test(arguments: [
        (Duration.zero, "0.000"), (.microseconds(1), "0.001"), (.microseconds(1_050), "1.050"),
        (.seconds(61), "61000.000"), (.nanoseconds(999), "0.000"), (.milliseconds(-3), "0.000"),
    ])
    func `Durations are milliseconds with three decimals`(duration: Duration, text: String) {
        #expect(duration.milliseconds == text)
    }
}
