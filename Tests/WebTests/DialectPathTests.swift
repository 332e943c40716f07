import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomRequests
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Synchronization
import Testing

@testable import DarkroomDialects
@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

/// Paths of another service, at the server.
struct DialectPathTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let pair = (key: "736563726574", salt: "68656C6C6F")
    private static let path = "/unsafe/rs:fill:300:200/plain/https://example.com/a.jpg@png"

    private func configuration(
        keys: [(key: String, salt: String)] = [], presets: [String] = [],
        _ change: (inout WebConfiguration) throws -> Void = { _ in }
    ) throws -> WebConfiguration {
        var configuration = WebConfiguration.test(token: "token")
        configuration.pathDialect = try ImgproxyDialect(
            ImgproxyDialect.Rules(keys: try ImgproxyKeys(pairs: keys)), presets: presets)
        configuration.now = { Self.now }
        try change(&configuration)
        return configuration
    }

    private func signed(_ path: String) throws -> String {
        let signature = try #require(try ImgproxyKeys(pairs: [Self.pair]).signature(of: path))
        return "/\(signature)\(path)"
    }

    @Test func `A path asks the pipeline as its query would`() async throws {
        let asked = Mutex<[ImageRequest]>([])
        let site = TestSite(configuration: try configuration()) { request throws(PipelineError) in
            asked.withLock { $0.append(request) }
            return .stub()
        }
        let query = "url=https://example.com/a.jpg&rules=imgproxy&w=300&h=200&layout=fill&output=png&n=1"
        for target in [Self.path, "/image?\(query)"] { #expect(try await site.respond(target).status == .ok) }
        let requests = asked.withLock { $0 }
        #expect(requests.count == 2 && requests[0].recipe == requests[1].recipe)
        #expect(requests[0].source == requests[1].source && requests[0].output == requests[1].output)
    }

    @Test func `Without the setting the path is unknown, and with it the server's own paths stay`() async throws {
        #expect(try await TestSite().problem(Self.path).type == "/problems/no-such-route")
        let site = TestSite(configuration: try configuration())
        #expect(try await site.respond("/image?url=https://example.com/a.jpg").status == .ok)
        #expect(try await site.problem("/image/x/y").type == "/problems/no-such-route")
        #expect(try await site.problem("/favicon.ico").type == "/problems/no-such-route")
        #expect(try await site.respond(Self.path, method: .post).status == .methodNotAllowed)
    }

    @Test func `A parameter that only the translation has is said to be one of the query`() async throws {
        let site = TestSite(configuration: try configuration { $0.limits.findsFaces = false })
        let problem = try await site.problem("/_/rs:fill:9:9/g:obj:face/plain/https://example.com/a.jpg")
        #expect(problem.status == 400 && problem.parameter == nil)
        #expect(problem.detail.hasPrefix("As a query of /image, the path is not valid: Parameter 'layout' "))
        let query = try await site.problem("/image?url=https://example.com/a.jpg&w=9&h=9&fit=cover&a=face")
        #expect(query.parameter == "a" && query.detail.hasPrefix("Parameter 'a' "))
    }

    @Test func `Keys of the dialect close the whole server`() async throws {
        let site = TestSite(configuration: try configuration(keys: [Self.pair]))
        #expect(try await site.respond(signed("/w:5/plain/https://example.com/a.jpg")).status == .ok)
        #expect(try await site.problem(Self.path).type == "/problems/signature-required")
        #expect(try await site.problem("/x/w:5/plain/https://a.org").type == "/problems/signature-wrong")
        #expect(try await site.problem("/image?url=https://a.org/b").type == "/problems/signature-required")
        let bearer: HTTPFields = [.authorization: "Bearer token"]
        let personal = try await site.respond(Self.path, fields: bearer)
        #expect(personal.status == .ok && personal.headers[.cacheControl]?.contains("private") == true)
    }

    @Test(arguments: ["?", "?x=1", "?x=1?y=2", "?x=1/../2"])
    func `What is not signed is redirected to the one URL that is`(suffix: String) async throws {
        let thumbor = ThumborKey("secret")
        let site = TestSite(configuration: try configuration(keys: [Self.pair]) { $0.basePath = "/images" })
        let other = TestSite(configuration: try configuration { $0.pathDialect = Thumbor(key: thumbor) })
        let imgproxy = try signed("/w:5/plain/https://example.com/a%20b.jpg")
        let padded = imgproxy.replacing("/w:5", with: "=/w:5")
        let path = "9x9/example.com/a%20b.jpg"
        let sent = "/\(thumbor.sign(path))/\(path)"
        let plain = "/\(thumbor.sign("9x9/example.com/a (b).jpg"))/9x9/example.com/a%20(b).jpg"
        let rows: [(TestSite, String, String, String)] = [
            (site, "/images", imgproxy + suffix, imgproxy), (site, "/images", padded, imgproxy),
            (site, "/images", padded + suffix, imgproxy), (other, "", sent + suffix, sent),
            (other, "", sent.replacing("=", with: "%3D"), sent), (other, "", plain.replacing("x", with: "%78"), plain),
            (other, "", plain.replacing("(", with: "%28") + suffix, plain),
        ]
        for (site, prefix, target, canonical) in rows {
            let response = try await site.respond(target)
            #expect(response.status == .movedPermanently, "\(target)")
            #expect(response.headers[.location] == prefix + canonical)
            #expect(response.headers[.cacheControl]?.hasPrefix("private") == true)
            #expect(try await site.respond(canonical).status == .ok)
        }
    }

    @Test func `What has no right signature is not redirected`() async throws {
        let site = TestSite(configuration: try configuration(keys: [Self.pair]))
        let path = try signed("/w:5/plain/https://example.com/a.jpg")
        for target in ["/x" + path + "?x=1", path + "x?x=1", Self.path + "?x=1"] {
            #expect(try await site.respond(target).status == .forbidden, "\(target)")
        }
        let expired = try signed("/exp:1700000000/plain/https://example.com/a.jpg")
        #expect(try await site.problem(expired + "?x=1").type == "/problems/url-expired")
        let open = TestSite(configuration: try configuration())
        #expect(try await open.respond(Self.path + "?x=1").status == .ok)
    }

    @Test func `Keys of Darkroom close the paths too`() async throws {
        let site = TestSite(
            configuration: try configuration { configuration in
                let key = try SigningKey(id: "k1", secret: String(repeating: "secret", count: 8))
                configuration.access.signingKeys = [key]
            })
        #expect(try await site.problem(Self.path).type == "/problems/signature-required")
    }

    @Test func `An expired path is not found, and one that will expire is not used longer`() async throws {
        let site = TestSite(configuration: try configuration())
        let expired = try await site.problem("/_/exp:1700000000/plain/https://a.org/b")
        #expect(expired.type == "/problems/url-expired" && expired.status == 404)
        let valid = try await site.respond("/_/exp:1800000030/plain/https://a.org/b")
        #expect(valid.headers[.cacheControl]?.contains("max-age=120") == true)
    }

    @Test func `Servers with presets only take nothing else`() async throws {
        let site = TestSite(
            configuration: try configuration(presets: ["small=w:5"]) { $0.access.presetsOnly = true })
        #expect(try await site.respond("/_/pr:small/plain/https://a.org/b").status == .ok)
        #expect(try await site.problem("/_/w:5/plain/https://a.org/b").type == "/problems/presets-only")
    }

    @Test func `What cannot be read is a problem that names the option`() async throws {
        let problem = try await TestSite(configuration: try configuration()).problem("/_/w:x/plain/https://a.org/b")
        #expect(problem.type == "/problems/invalid-parameter" && problem.parameter == "w")
        #expect(problem.detail.hasPrefix("Option 'w' "))
        for target in ["/_/plain/https://a.org/%00", "/_/YQBi", "/_/plain/ftp://a.org"] {
            #expect(try await TestSite(configuration: try configuration()).respond(target).status == .badRequest)
        }
    }

    @Test func `Scripts of listed sites may read paths`() async throws {
        let site = TestSite(configuration: try configuration { $0.access.origins = .all })
        let response = try await site.respond(Self.path, fields: [.origin: "https://a.org"])
        #expect(response.headers[.accessControlAllowOrigin] == "*")
    }

    @Test func `An explanation has the query of a path, and what was ignored`() async throws {
        let site = TestSite.explaining(try configuration())
        let told = try await site.explanation("/explain?path=/_/w:5/scp:1/plain/https://a.org/b")
        #expect(told.request.canonical.contains("w=5") && told.request.canonical.contains("rules=imgproxy"))
        #expect(told.dialect?.name == "imgproxy" && told.dialect?.ignored.map(\.name) == ["scp"])
        #expect(try await site.problem("/explain?path=/_/w:5/plain/https://a.org&w=3").parameter == "w")
        #expect(try await TestSite().problem("/explain?path=/_/plain/https://a.org").parameter == "path")
    }
}
