import DarkroomCache
import DarkroomDialects
import DarkroomNetwork
import DarkroomOrigin
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import DarkroomHTTPServer
@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

/// Each policy on each way of an answer.
struct GateTests {
    /// What becomes of a request that the gate lets through.
    enum Way: CaseIterable {
        /// Answered at once, by a target that is known.
        case hit
        /// Answered at once, by a target that is read for the first time.
        case firstHit
        case diskHit, failure, miss, refusal, info, explain, srcset, signedPath, iiif, iiifImage, wsrv, dialect, upload

        var isAtOnce: Bool { [.hit, .firstHit, .diskHit, .failure, .refusal].contains(self) }
        /// Whether nothing in its URLs could be signed.
        var isUnsigned: Bool { [.iiif, .iiifImage, .dialect].contains(self) }
    }

    /// A rule of the gate, with the type of its problem.
    enum Policy: String, CaseIterable {
        case loop
        case length = "target-too-long"
        case signature = "signature-wrong"
        case expiry = "signature-expired"
        case presets = "presets-only"
        case hosts = "source-not-allowed"
        case gps = "gps-not-allowed"
        case rate = "rate-limited"
        case quota = "quota-exceeded"

        /// Whether a request can violate it on a way.
        func concerns(_ way: Way) -> Bool {
            switch (self, way) {
            case (.signature, _), (.expiry, _), (.quota, _): !way.isUnsigned
            // Uploads have no source.
            case (.hosts, _): way != .upload && !way.isUnsigned
            // Presets mean nothing where no image is made.
            case (.presets, .info): false
            // Positions are part of documents.
            case (.gps, _): way == .info || way.isAtOnce
            default: true
            }
        }
    }

    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let source = "http://a.org/b.jpg"

    /// A site whose requests take one way.
    private struct GatedSite {
        let way: Way
        let listener: ListenerConfiguration
        let key: SigningKey
        let account: KeyAccount?

        init(
            _ way: Way, _ policy: Policy, now: @escaping @Sendable () -> Date = { GateTests.now }
        ) throws {
            self.way = way
            let secret = "correct-horse-battery-staple-0123"
            key = try SigningKey(id: "k1", secret: secret, hosts: policy == .hosts ? ["other.org"] : [])
            var configuration = WebConfiguration(viaPseudonym: "us")
            configuration.now = now
            configuration.servesIIIF = true
            if way == .dialect { configuration.pathDialect = Thumbor() }
            configuration.uploads = UploadBudget(budgetBytes: 1000, maxSourceBytes: 1000)
            configuration.access.presetsOnly = policy == .presets
            configuration.clientLimits.rateLimit = policy == .rate ? Rate("2/h") : nil
            if !way.isUnsigned, policy != .presets { configuration.access.signingKeys = [key] }
            if policy == .quota {
                configuration.access.keyQuotas["k1"] = KeyQuotas(egress: Allowance(amount: 1, period: .seconds(60)))
            }
            let inquired: Inquired =
                switch way {
                case .hit, .firstHit: .found(.stub())
                case .diskHit: .found(.stub(cache: CacheReport(variant: .disk)))
                case .failure: .failed(.remembered(.notFound(status: 404), retryAfterSeconds: 9))
                case .refusal: .refused(.overloaded(retryAfterSeconds: 1))
                default: .waits { .stub() }
                }
            let image = ImageEndpoint(configuration: configuration, inquired: inquired) { _ in .stub() }
            account = configuration.accounts.accounts(of: configuration.access)["k1"]
            let explain = ExplainEndpoint(image: image) { _, _ in .stub(plan: .missing("x")) }
            let endpoints = Endpoints.idle(
                image: image, explain: explain,
                srcset: .describing(configuration: configuration) { _ in .stub() })
            listener = endpoints.configuration(
                of: .main, configuration, observers: endpoints.observability.observers(logger: .quiet))
        }

        /// The target of a request that is permitted, apart from further parameters.
        func target(_ parameters: String = "", signature: String? = nil) throws -> String {
            var query = "url=\(GateTests.source)\(parameters)"
            switch way {
            case .iiif: return "/iiif/http:%2F%2Fa.org%2Fb.jpg/info.json"
            case .iiifImage: return "/iiif/http:%2F%2Fa.org%2Fb.jpg/full/max/0/default.jpg"
            case .dialect: return "/unsafe/30x20/a.org/b.jpg"
            case .upload: query = "w=5\(parameters)"
            case .srcset: query += "&widths=5"
            default: break
            }
            let path =
                switch way {
                case .info: "/info"
                case .explain: "/explain"
                case .srcset: "/srcset"
                case .wsrv: ImageEndpoint.wsrvPath
                case .signedPath: SignedPath.signedPath
                default: parameters.contains("gps") ? "/info" : "/image"
                }
            guard account != nil else { return "\(path)?\(query)" }
            let request = SignedRequest(path: path, parameters: try QueryString(parsing: query))
            let code = signature ?? key.sign(request).text
            guard way == .signedPath else { return "\(path)?\(request.query)&s=\(code)" }
            return "\(SignedPath.prefix)\(code)/\(Base64URL.text(of: request.query.utf8))"
        }

        func respond(_ target: String, _ fields: HTTPFields = [:]) async -> Response {
            let method: HTTPMethod = way == .upload ? .POST : .GET
            var fields = fields
            if way == .upload { fields[.contentType] = "image/jpeg" }
            let headers = HTTPHeaders(fields.map { ($0.name.rawName, $0.value) })
            let head = RequestHead(
                HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers),
                from: RequestHead.Peer(.v4(1), TrustedProxies()))
            let request = HTTPRequest(
                method: way == .upload ? .post : .get, scheme: "http", authority: "a", path: target,
                headerFields: fields)
            let body = RequestBody(buffer: ByteBuffer(string: way == .upload ? "bytes" : ""))
            return await Exchange(Site(listener), head, id: "7").response(
                to: Request(head: request, body: body), nil)
        }
    }

    /// The request that violates a policy, after one that does not, if that matters.
    private func violation(of policy: Policy, on site: GatedSite) async throws -> Response {
        let target = try site.target()
        // Afterwards, the target of a hit or a failure is known.
        if [.hit, .failure].contains(site.way) { _ = await site.respond(target) }
        switch policy {
        case .loop: return await site.respond(target, [.via: "1.1 us"])
        case .length:
            let long = String(repeating: "x", count: Site.maxTargetBytes)
            return await site.respond(target + (target.contains("?") ? "&v=" : "?v=") + long)
        case .signature: return await site.respond(try site.target(signature: "k1.AAAA"))
        case .expiry:
            let past = Int(Self.now.timeIntervalSince1970)
            return await site.respond(try site.target("&exp=\(past)"))
        case .presets, .hosts: return await site.respond(target)
        case .gps: return await site.respond(try site.target("&gps=true"))
        case .rate:
            for _ in 0..<2 { _ = await site.respond(target) }
            return await site.respond(target)
        case .quota:
            site.account?.charge(egressBytes: 1000)
            return await site.respond(target)
        }
    }

    @Test(arguments: Way.allCases, Policy.allCases)
    func `A policy holds on every way of an answer`(way: Way, policy: Policy) async throws {
        guard policy.concerns(way) else { return }
        let response = try await violation(of: policy, on: GatedSite(way, policy))
        let problem = try JSONDecoder().decode(Problem.Document.self, from: Data(try await response.text().utf8))
        #expect(problem.type == "/problems/\(policy.rawValue)", "\(problem.detail)")
    }

    @Test(arguments: Way.allCases)
    func `What no policy forbids is answered in its way`(way: Way) async throws {
        let site = try GatedSite(way, .loop)
        for _ in 0..<2 {
            let status = await site.respond(try site.target()).status
            switch way {
            case .failure: #expect(status == .notFound)
            case .refusal: #expect(status == .serviceUnavailable)
            // The document of this site's sources is none.
            case .iiif, .iiifImage: #expect(status == .internalServerError)
            default: #expect(status == .ok)
            }
        }
    }

    @Test func `An answer by a known target expires with its signature`() async throws {
        let time = Mutex(Self.now)
        let site = try GatedSite(.hit, .expiry) { time.withLock(\.self) }
        let target = try site.target("&exp=\(Int(Self.now.timeIntervalSince1970) + 9)")
        for _ in 0..<2 { #expect(await site.respond(target).status == .ok) }
        time.withLock { $0 += 9 }
        #expect(await site.respond(target).status == .forbidden)
    }
}

/// Refusals while the pixel queue is full.
struct RefusalTests {
    private func response(
        to target: String, _ configuration: WebConfiguration, _ fields: HTTPFields = [:]
    ) async throws -> Response {
        let image = ImageEndpoint(
            configuration: configuration, inquired: .refused(.overloaded(retryAfterSeconds: 1))
        ) { _ in .stub() }
        return try await TestSite(.idle(image: image), configuration: configuration).respond(target, fields: fields)
    }

    @Test func `A refusal varies by the fields that an image would`() async throws {
        var configuration = WebConfiguration()
        let target = "/image?url=http://a.org/b"
        #expect(try await response(to: target, configuration).headers[.vary] == "Accept, Sec-Fetch-Dest")
        configuration.negotiation.usesClientHints = true
        for fields: HTTPFields in [[:], [.secCHDPR: "2"]] {
            let refusal = try await response(to: target, configuration, fields)
            #expect(refusal.status == .serviceUnavailable)
            #expect(refusal.headers[.vary] == "Accept, Sec-CH-DPR, Sec-CH-Width, Sec-Fetch-Dest")
        }
    }

    @Test func `Paths of another service are refused as early, and by their rules`() async throws {
        var configuration = WebConfiguration()
        let path = "/unsafe/300x200/a.org/b.jpg"
        #expect(try await response(to: path, configuration).status == .notFound)
        configuration.pathDialect = Thumbor()
        let refusal = try await response(to: path, configuration)
        #expect(refusal.status == .serviceUnavailable)
        #expect(refusal.headers[.crossOriginResourcePolicy] == "cross-origin")
        // What the server's own routes begin with is theirs.
        for other in ["/info/300x200/a.org/b.jpg", "/unsafe/filters:none()/a.org/b.jpg", "/unsafe"] {
            #expect(try await response(to: other, configuration).status != .serviceUnavailable, "\(other)")
        }
        configuration.pathDialect = Thumbor(key: ThumborKey("secret"))
        #expect(try await response(to: path, configuration).status == .forbidden)
        let signed = ThumborKey("secret").sign("300x200/a.org/b.jpg")
        #expect(try await response(to: "/\(signed)/300x200/a.org/b.jpg", configuration).status == .serviceUnavailable)
    }
}
