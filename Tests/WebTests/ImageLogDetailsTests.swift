import DarkroomCache
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomRequests
import DarkroomTestClock
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

/// What the access log says of requests for images.
struct ImageLogDetailsTests {
    private static let failure = PipelineError.originFailed(OriginFailure("No.", receivedStatus: 503))
    private static let hidden = ["secret", "folder", "user", "8443"]

    /// The entry of a request.
    private func entry(
        _ target: String, _ configuration: WebConfiguration = .test(token: "t"),
        image: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse = { _ in .stub() }
    ) async throws -> AccessLogEntry {
        let entries = Mutex<[AccessLogEntry]>([])
        var observability = Observability.idle()
        observability.logRequest = { entry in entries.withLock { $0.append(entry) } }
        let site = TestSite(configuration: configuration, observability: observability, image: image)
        _ = try await site.respond(target)
        return try #require(entries.withLock(\.self).first)
    }

    @Test(
        arguments: [
            ("https://u:secret@a.org:8443/b/c.jpg?w=9&x=secret-secret-secret", "path", "https://a.org:8443/b/c.jpg"),
            (
                "https://u:secret@a.org/b.jpg?v=2&name=red%20cat#secret", "full",
                "https://a.org/b.jpg?v=2&name=red%20cat"
            ),
            (
                "https://a.org/b?X-Amz-Signature=secret&sig=secret&s=secret&s%69g=secret&size=9", "full",
                "https://a.org/b?X-Amz-Signature=…&sig=…&s=…&s%69g=…&size=9"
            ),
            ("https://a.org/b?id=secret-secret-secret&a", "full", "https://a.org/b?id=…&a"),
            ("https://a.org/b?secret-secret-secret", "full", "https://a.org/b?…"),
            ("local:///folder/a.png", "path", "local:///folder/a.png"), ("https://a.org/folder", "host", nil),
        ] as [(String, String, String?)])
    func `A source is logged as the setting says, without credentials`(
        url: String, form: String, logged: String?
    ) async throws {
        var configuration = WebConfiguration.test(token: "t")
        configuration.logSources = try #require(LoggedSource(rawValue: form))
        let source = PercentEncoding.encode(url)
        for fails in [false, true] {
            let entry = try await entry("/image?url=\(source)", configuration) { _ throws(PipelineError) in
                if fails { throw .unsupported }
                return .stub()
            }
            #expect(entry.details.words.first { $0.hasPrefix("source=") } == logged.map { "source=\($0)" })
            #expect(!entry.details.words.contains { $0.contains("secret") })
        }
    }

    @Test(
        arguments: [
            (.stub(), "tier=memory", true), (.stub(cache: CacheReport(variant: .disk)), "tier=disk", true),
            (.stub(cache: CacheReport(original: .disk)), "tier=original-disk", false),
            (
                .stub(cache: CacheReport(forwarded: .miss, originStatus: 200)),
                "origin-status=200 tier=original-miss", false
            ),
            (
                .stub(cache: CacheReport(variant: .memory, forwarded: .stale, originStatus: 304)),
                "origin-status=304 tier=memory", false
            ),
            (.stub(remaining: .seconds(-1)), "tier=memory", false),
            (
                .stub(cache: CacheReport(variant: .memory, staleBecause: failure)),
                "origin-error=unexpected_status origin-status=503 tier=memory", false
            ),
            (
                .stub(fallbackReason: .originTimedOut(OriginFailure("No.", proxyError: .dnsTimeout))),
                "origin-error=dns_timeout tier=memory", false
            ),
        ] as [(ImageResponse, String, Bool)])
    func `An image has its source's host, its format and sizes, and how it came about`(
        image: ImageResponse, details: String, isHit: Bool
    ) async throws {
        let entry = try await entry("/image?url=https://a.org/folder") { _ in image }
        let same = "format=webp height=20 source-bytes=1234 source-host=a.org width=30"
        #expect(entry.details.words == (same + " " + details).split(separator: " ").map(String.init).sorted())
        #expect(entry.details.isHit == isHit)
        #expect(entry.problem == nil)
    }

    @Test(
        arguments: [
            (failure, "origin-failed", "origin-error=unexpected_status origin-status=503"),
            (
                .originFailed(OriginFailure("No.", proxyError: .connectionRefused)), "origin-failed",
                "origin-error=connection_refused"
            ),
            (
                .originTimedOut(OriginFailure("No.", proxyError: .connectionTimeout)), "origin-timeout",
                "origin-error=connection_timeout"
            ),
            (.originUnavailable(retryAfterSeconds: 7), "origin-unavailable", "origin-error=destination_unavailable"),
            (.notFound(status: 410), "source-gone", "origin-error=not_found origin-status=410"),
            (
                .remembered(.notFound(status: 404), retryAfterSeconds: 7), "source-not-found",
                "origin-error=not_found origin-status=404"
            ),
            (.notFound(status: nil), "source-not-found", ""), (.corrupt, "corrupt-image", ""),
            (.overloaded(retryAfterSeconds: 1), "overloaded", ""), (.notAllowed("No."), "source-not-allowed", ""),
        ] as [(PipelineError, String, String)])
    func `A failure has its problem, its source's host and what was wrong with the origin`(
        error: PipelineError, problem: String, details: String
    ) async throws {
        let entry = try await entry("/image?url=https://a.org/folder") { _ throws(PipelineError) in throw error }
        #expect(entry.problem == problem)
        #expect(entry.details.words == details.split(separator: " ").map(String.init) + ["source-host=a.org"])
        #expect(!entry.details.isHit)
    }

    @Test(
        arguments: [
            ("/image?url=https://a.org/", nil, "a.org"), ("/info?url=https://a.org/", nil, "a.org"),
            ("/image?url=https%3A%2F%2Fuser:secret%40A.org:8443%2Ffolder%3Fsecret", nil, "a.org"),
            ("/image?url=https://[2001:db8::7]:8443/", nil, "2001:db8::7"),
            ("/image?url=http://b%C3%BCcher.example/", nil, "xn--bcher-kva.example"),
            ("/image?url=local:///folder/secret.jpg", nil, "local:"),
            ("/image?url=https://a.org/&default=https://b.org/folder", nil, "a.org"),
            ("/image?url=https://a.org/&cache=reload", "refresh-not-allowed", "a.org"),
            ("/image?url=https://a.org/secret&w=0", "invalid-parameter", nil),
            ("/image?secret=1", "invalid-parameter", nil),
            ("/image?url=ftp://a.org/secret", "invalid-url", nil), ("/image?url=http://a%0ab.org/%20", nil, "ab.org"),
            ("/image?url=http://a%20secret/", "invalid-url", nil), ("/nowhere?secret", "no-such-route", nil),
            ("/srcset?url=https://a.org/secret&widths=100", nil, "a.org"),
        ] as [(String, String?, String?)])
    func `Of a source the host alone is logged, if its address is valid`(
        target: String, problem: String?, host: String?
    ) async throws {
        let entry = try await entry(target)
        #expect(entry.problem == problem)
        #expect(entry.details.text("source-host") == host)
        for word in Self.hidden { #expect(!"\(entry)".contains(word)) }
    }

    @Test func `A host longer than a DNS name is truncated`() async throws {
        let host = try await entry("/image?url=http://\(String(repeating: "a", count: 3_000)).org/")
            .details.text("source-host")
        #expect(host == String(repeating: "a", count: 253))
    }

    @Test func `A source that the signing key does not allow is named`() async throws {
        var configuration = WebConfiguration.test(token: "t")
        let key = try SigningKey(id: "k1", secret: "correct-horse-battery-staple-0123", hosts: ["b.org"])
        configuration.access.signingKeys = [key]
        var open = configuration
        open.access.signingKeys = [try SigningKey(id: "k1", secret: "correct-horse-battery-staple-0123")]
        let target = try URLSigner(open).sign("/image?url=https://a.org/folder")
        let entry = try await entry(target, configuration)
        #expect(entry.problem == "source-not-allowed")
        #expect(entry.details.text("source-host") == "a.org")
    }

    @Test(arguments: [true, false])
    func `Without hits, the log has misses, refusals and failures alone`(isFast: Bool) async throws {
        let server = HitServer(
            try HitTests.Site.plain.configuration(), clock: TestClock(), logsHits: false)
        try await server.run { address in
            var client = try await HitClient(address)
            func ask(_ query: String, _ field: String = "Accept: */*") async throws -> ReceivedResponse {
                let length = isFast ? "" : "Content-Length: 0\r\n"
                try await client.send("GET /image?\(query) HTTP/1.1\r\nHost: x\r\n\(length)\(field)\r\n\r\n")
                let response = try await client.response()
                await server.settle()
                return response
            }
            let image = "url=http://a.org/fresh"
            let tag = try #require(try await ask(image).fields["etag"]?.first)
            for _ in 0..<3 { #expect(try await ask(image).status.contains("200")) }
            #expect(try await ask(image, "If-None-Match: \(tag)").status.contains("304"))
            for query in [image + "&w=7", image + "&w=0", "url=http://a.org/missing", "url=http://a.org/nocache"] {
                _ = try await ask(query)
            }
            // The origin confirms it, with the same bytes.
            #expect(try await ask("url=http://a.org/nocache").status.contains("200"))
            let fillers = try await server.fillQueue(client: "127.0.0.1")
            #expect(try await ask("url=http://a.org/vary").status.contains("503"))
            #expect(try await ask(image).status.contains("200"))
            server.gate.open()
            for filler in fillers { try await filler.value }
            try await client.close()
        }
        #expect(
            server.log.map { "\($0.status) \($0.problem ?? $0.details.text("tier") ?? "")" } == [
                "200 original-miss", "200 original-memory", "400 invalid-parameter", "404 source-not-found",
                "200 original-miss", "200 memory", "503 overloaded",
            ])
    }
}

extension AccessLogDetails {
    fileprivate func text(_ name: String) -> String? { fields.first { $0.name == name }?.value.text }

    fileprivate var words: [String] { fields.map { "\($0.name)=\($0.value.text)" } }
}

extension AccessLogDetails.Value {
    fileprivate var text: String {
        switch self {
        case .text(let text): text
        case .number(let number): "\(number)"
        }
    }
}
