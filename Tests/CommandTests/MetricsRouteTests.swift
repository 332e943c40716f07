import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOPosix
import Testing

@testable import DarkroomCommand

/// `GET /metrics`, `GET /cache` and readiness on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct MetricsRouteTests {
    private static let token = "a-token-of-enough-letters"
    private let admin = [("Authorization", "Bearer \(Self.token)")]

    private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
        try await DarkroomProcess(["--allow-networks", "127.0.0.0/8", "--admin-token", Self.token] + flags)
    }

    /// What a scrape finds, by name and labels as they are written.
    private func scrape(_ server: DarkroomProcess) async throws -> [String: Double] {
        let answer = try await Client.get("\(server.base)/metrics", fields: admin)
        #expect(answer.status == 200)
        #expect(answer["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        var samples: [String: Double] = [:]
        for line in String(buffer: answer.body).split(separator: "\n") where !line.hasPrefix("#") {
            let cut = try #require(line.lastIndex(of: " "))
            let name = String(line[..<cut])
            #expect(samples[name] == nil, "\(name)")
            let value = Double(String(line[line.index(after: cut)...]))
            #expect(value != nil, "\(line)")
            samples[name] = value
        }
        return samples
    }

    private struct Caches: Decodable {
        struct Tier: Decodable {
            var entries: Int
            var bytes: Int
            var budgetBytes: Int
            var hits: Int
            var misses: Int
        }

        var memory: Tier
        var disk: Tier?
        var decoded: Tier
    }

    private func caches(_ server: DarkroomProcess) async throws -> Caches {
        let answer = try await Client.get("\(server.base)/cache", fields: admin)
        #expect(answer.status == 200)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Caches.self, from: answer.body)
    }

    @Test func `A scrape tells what became of each request, download and codec`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        origin.answer("/broken.jpg", .status("200 OK"))
        origin.answer("/gone.jpg", .status("404 Not Found"))
        let server = try await server()
        let made = try await server.image(origin.url(), "w=20")
        for _ in 0..<2 { _ = try await server.image(origin.url(), "w=20") }
        #expect(try await server.image(origin.url("/broken.jpg"), "w=20").status == 415)
        #expect(try await server.image(origin.url("/gone.jpg"), "w=20").status == 404)
        let samples = try await scrape(server)
        let expected: [String: Double] = [
            #"darkroom_http_requests_total{code="200",method="GET",route="/image",status="2xx"}"#: 3,
            #"darkroom_http_requests_total{code="404",method="GET",route="/image",status="4xx"}"#: 1,
            #"darkroom_http_requests_total{code="415",method="GET",route="/image",status="4xx"}"#: 1,
            #"darkroom_http_requests_total{code="502",method="GET",route="/image",status="5xx"}"#: 0,
            #"darkroom_http_request_duration_seconds_count{cache="hit",method="GET",route="/image",status="2xx"}"#: 2,
            #"darkroom_http_request_duration_seconds_count{cache="miss",method="GET",route="/image",status="2xx"}"#: 1,
            #"darkroom_http_problems_total{problem="unsupported-image"}"#: 1,
            #"darkroom_image_answers_total{result="miss"}"#: 1,
            #"darkroom_image_answers_total{result="hit_memory"}"#: 2,
            #"darkroom_image_answers_total{result="failure"}"#: 2,
            #"darkroom_image_stage_duration_seconds_count{stage="process"}"#: 1,
            #"darkroom_origin_requests_total{result="downloaded"}"#: 2,
            #"darkroom_origin_requests_total{result="not_found"}"#: 1,
            "darkroom_origin_duration_seconds_count": 3,
            #"darkroom_codec_failures_total{codec="none",reason="unsupported"}"#: 1,
            #"darkroom_variants_total{format="jpg"}"#: 1,
            #"darkroom_variant_bytes_total{format="jpg"}"#: Double(made.body.readableBytes),
            "darkroom_pixel_queue_waiting": 0,
            // The scrape itself.
            "darkroom_http_requests_in_flight": 1,
            "darkroom_ready": 1,
            "darkroom_metrics_refused_series_total": 0,
        ]
        for (name, value) in expected { #expect(samples[name] == value, "\(name)") }
        #expect(samples["darkroom_origin_bytes_total"] ?? 0 > 1_000)
    }

    @Test func `A scrape and the caches' document tell the same of each tier`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let server = try await server(["--cache-memory-bytes", "8MiB", "--cache-disk-bytes", "64MiB"])
        for _ in 0..<2 { _ = try await server.image(origin.url(), "w=20&wait=stored") }
        let caches = try await caches(server)
        let samples = try await scrape(server)
        let tiers = [("memory", caches.memory), ("disk", try #require(caches.disk)), ("decoded", caches.decoded)]
        for (name, tier) in tiers {
            #expect(samples["darkroom_cache_entries{tier=\"\(name)\"}"] == Double(tier.entries), "\(name)")
            #expect(samples["darkroom_cache_bytes{tier=\"\(name)\"}"] == Double(tier.bytes), "\(name)")
            #expect(samples["darkroom_cache_budget_bytes{tier=\"\(name)\"}"] == Double(tier.budgetBytes), "\(name)")
            #expect(samples["darkroom_cache_hits_total{tier=\"\(name)\"}"] == Double(tier.hits), "\(name)")
            #expect(samples["darkroom_cache_misses_total{tier=\"\(name)\"}"] == Double(tier.misses), "\(name)")
        }
        #expect(caches.memory.budgetBytes == 8 << 20)
        #expect(caches.memory.entries > 0 && caches.memory.bytes > 0 && caches.memory.hits > 0)
        #expect(caches.disk?.budgetBytes == 64 << 20)
        #expect(caches.disk?.entries == 3)
        #expect(samples[#"darkroom_cache_damaged_total{tier="disk"}"#] == 0)
        #expect(samples[#"darkroom_cache_damaged_total{tier="memory"}"#] == nil)
    }

    @Test func `Without a disk cache there is none to tell of`() async throws {
        let server = try await server(["--cache-disk-bytes", "0"])
        #expect(try await caches(server).disk == nil)
        #expect(try await scrape(server)[#"darkroom_cache_entries{tier="disk"}"#] == nil)
    }

    @Test func `A scrape tells what the process takes`() async throws {
        let before = Date().timeIntervalSince1970
        let samples = try await scrape(try await server())
        let started = try #require(samples["process_start_time_seconds"])
        #expect(started > before - 1 && started < Date().timeIntervalSince1970 + 1)
        #expect(samples["process_open_fds"] ?? 0 > 3)
        #expect(samples["process_max_fds"] ?? 0 >= samples["process_open_fds"] ?? .infinity)
        #expect((0.001..<600).contains(samples["process_cpu_seconds_total"] ?? 0))
        let builds = samples.filter { $0.key.hasPrefix("darkroom_build_info{") }
        #expect(builds.count == 1 && builds.first?.value == 1)
        #expect(builds.first?.key.contains("version=\"\(Darkroom.release)\"") == true)
        #expect(builds.first?.key.contains("libvips=\"8.") == true)
        #if os(Linux)
            let resident = samples["process_resident_memory_bytes"] ?? .infinity
            #expect(samples["process_virtual_memory_bytes"] ?? 0 > resident)
            #expect(samples["darkroom_memory_limit_bytes"] ?? 0 > resident)
            #expect(samples["process_resident_memory_bytes"] ?? 0 > 1_000_000)
        #endif
    }

    @Test func `Metrics and caches are for who has the token`() async throws {
        let (server, closed) = (try await server(), try await DarkroomProcess())
        for path in ["metrics", "cache"] {
            for fields in [[], [("Authorization", "Bearer wrong")]] {
                let refused = try await Client.get("\(server.base)/\(path)", fields: fields)
                #expect(refused.status == 401)
                #expect(refused["www-authenticate"]?.hasPrefix("Bearer") == true)
            }
            let disabled = try await Client.get("\(closed.base)/\(path)", fields: admin)
            #expect(disabled.problem?.type == "/problems/admin-disabled")
        }
    }
}
