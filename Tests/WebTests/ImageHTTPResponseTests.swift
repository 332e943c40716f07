import DarkroomCache
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomPipeline
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Testing

@testable import DarkroomWeb

/// What an answer tells caches and about caches.
struct ImageHTTPResponseTests {
    private let source = "/image?url=https://example.com/a.jpg&output=webp"

    private func fields(
        _ picture: ImageResponse, _ configuration: WebConfiguration = WebConfiguration(), query: String = ""
    ) async throws -> HTTPFields {
        try await TestSite(configuration: configuration) { _ in picture }.respond(source + query).headers
    }

    @Test(arguments: [
        ("max-age=3600", "", "public, max-age=3600"), ("max-age=3600", "&maxage=1m", "public, max-age=150"),
        ("max-age=3600", "&maxage=2h", "public, max-age=3600"),
        ("no-store", "&maxage=1m", "no-store"), ("private, max-age=3600", "", "private, max-age=3600"),
        ("no-cache", "", "public, no-cache"), ("max-age=9000, immutable", "", "public, max-age=7290, immutable"),
        ("max-age=60", "", "public, max-age=60"),
    ])
    func `A variant is as fresh as its original, and maxage and the setting shorten it`(
        origin: String, query: String, told: String
    ) async throws {
        let fields = try await fields(
            .stub(origin: [.cacheControl: origin]), WebConfiguration(variantMaxAge: .seconds(7200)), query: query)
        #expect(fields[.cacheControl] == told)
        #expect(fields[.age] == "90")
    }

    @Test(arguments: [
        (CacheReport(variant: .memory), Duration.seconds(7), "darkroom;hit;ttl=7;detail=memory"),
        (CacheReport(variant: .disk), .zero, "darkroom;hit;ttl=0;detail=disk"),
        (CacheReport(variant: .disk), .milliseconds(-1), "darkroom;hit;ttl=-1;detail=disk"),
        (CacheReport(variant: .memory), .milliseconds(1_999), "darkroom;hit;ttl=1;detail=memory"),
        (
            CacheReport(variant: .memory, forwarded: .stale, originStatus: 304), .seconds(60),
            "darkroom;fwd=stale;fwd-status=304;ttl=60;detail=memory"
        ),
        (
            CacheReport(original: .memory, isStored: true), .seconds(7),
            "darkroom;fwd=miss;ttl=7;stored;detail=original-memory"
        ),
        (CacheReport(original: .disk), .seconds(7), "darkroom;fwd=miss;ttl=7;detail=original-disk"),
        (
            CacheReport(forwarded: .request, originStatus: 200, isStored: true, isShared: true), .seconds(7),
            "darkroom;fwd=request;fwd-status=200;ttl=7;stored;collapsed;detail=original-miss"
        ),
    ])
    func `Cache-Status names the tier and the part of the origin`(
        report: CacheReport, remaining: Duration, text: String
    ) async throws {
        #expect(try await fields(.stub(cache: report, remaining: remaining))[.cacheStatus] == text)
    }

    @Test func `A stale response says why the origin could not confirm it`() async throws {
        let trouble = OriginFailure("No.", receivedStatus: 503)
        let report = CacheReport(
            variant: .disk, forwarded: .stale, originStatus: 503, staleBecause: .originFailed(trouble))
        let fields = try await fields(.stub(cache: report, remaining: .seconds(-5)))
        #expect(fields[.cacheStatus] == "darkroom;fwd=stale;fwd-status=503;ttl=-5;detail=disk")
        #expect(fields[.proxyStatus] == "darkroom;received-status=503")
    }

    @Test func `A fallback is fresh for a minute and has no date`() async throws {
        let picture = ImageResponse.stub(
            lastModified: ImageResponse.madeAt,
            fallbackReason: .originFailed(OriginFailure("No.", proxyError: .dnsError)))
        for (query, told) in [("", "public, max-age=60"), ("&maxage=10s", "public, max-age=10")] {
            let site = TestSite(configuration: WebConfiguration()) { _ in picture }
            let response = try await site.respond(source + query)
            #expect(response.status == .ok)
            #expect(response.headers[.cacheControl] == told)
            // Caches that ignore the age would keep it for longer.
            #expect(response.headers[.age] == "0")
            #expect(response.headers[.lastModified] == nil)
            #expect(response.headers[.proxyStatus] == "darkroom;error=dns_error")
            #expect(try await response.text() == "bytes")
        }
        let secret = ImageResponse.stub(origin: [.cacheControl: "no-store"], fallbackReason: .corrupt)
        #expect(try await fields(secret)[.cacheControl] == "no-store")
    }
}
