import DarkroomDialects
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomRequests
import DarkroomStore
import DarkroomTestClock
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

/// Answers in front of the framework, compared with responses of the framework to requests that are not plain.
@Suite(.timeLimit(.minutes(5)))
struct HitTests {
    private static let secret = "correct-horse-battery-staple-0123"

    /// The surroundings of a server.
    enum Site: CaseIterable {
        case plain, signed, shared

        func configuration() throws -> WebConfiguration {
            var configuration = WebConfiguration.test(token: "t")
            var presets = Presets()
            try presets.add("small", "w=50&output=webp", limits: configuration.limits)
            configuration.access.presets = presets
            // Answers in two steps depend on the time between requests (``TwoStepTests``).
            configuration.negotiation.formats = try #require(FormatList([.webp]))
            switch self {
            case .plain: break
            case .signed:
                let keys = [
                    try SigningKey(id: "k1", secret: HitTests.secret),
                    try SigningKey(id: "slow", secret: HitTests.secret, presets: ["small"]),
                ]
                configuration.access.signingKeys = keys
                configuration.access.keyRates = ["slow": try #require(Rate("9/h"))]
                configuration.access.origins = .listed(["https://a.org"])
            case .shared:
                configuration.access.origins = .all
                configuration.clientLimits.rateLimit = Rate("150/h")
                configuration.clientLimits.trustedProxies = [try CIDR(parsing: "127.0.0.0/8")]
                configuration.publicURL = "https://images.example.org"
                configuration.responseTags = .fastly
            }
            return configuration
        }
    }

    @Test(arguments: Site.allCases, [UInt64(1), 2])
    func `A response is the same with and without the fast path`(site: Site, seed: UInt64) async throws {
        let clock = TestClock()
        let configuration = try site.configuration()
        let fast = HitServer(configuration, clock: clock)
        let slow = HitServer(configuration, clock: clock)
        var requests = try RequestGenerator(seed: seed, site: site, configuration: configuration, clock: clock)
        let steps = try (0..<600).map { _ in try requests.next() }
        try await fast.run { fastAddress in
            try await slow.run { slowAddress in
                var (client, other) = (try await HitClient(fastAddress), try await HitClient(slowAddress))
                var tags: [String: String] = [:]
                for step in steps {
                    clock.advance(by: .seconds(step.pause))
                    if let purged = step.purged {
                        for server in [fast, slow] { await server.pipeline.purge(purged) }
                    }
                    let text = step.text.replacing(RequestGenerator.lastTag, with: tags[step.target] ?? "\"none\"")
                    try await client.send(text)
                    try await other.send(Self.notPlain(text))
                    let isHead = text.hasPrefix("HEAD")
                    let received = try await client.response(toHead: isHead).lasting(step)
                    let expected = try await other.response(toHead: isHead).lasting(step)
                    #expect(received == expected, "\(text)")
                    if let tag = expected.fields["etag"]?.first { tags[step.target] = tag }
                    for server in [fast, slow] { await server.settle() }
                }
                try await client.close()
                try await other.close()
            }
        }
        try expectEqualRecords(of: fast, slow)
        #expect(fast.answers.count > 60)
        #expect(slow.answers.count == 0)
    }

    @Test(arguments: [CORSPolicy.none, .all, .listed(["https://a.org"])], [nil, Rate("150/h")])
    func `A refusal is the same with and without the fast path`(origins: CORSPolicy, rate: Rate?) async throws {
        let clock = TestClock()
        var configuration = try Site.plain.configuration()
        configuration.access.origins = origins
        configuration.clientLimits.rateLimit = rate
        let fast = HitServer(configuration, clock: clock)
        let slow = HitServer(configuration, clock: clock)
        var requests = try RequestGenerator(seed: 3, site: .plain, configuration: configuration, clock: clock)
        let steps = try (0..<300).map { _ in try requests.next() }
        try await fast.run { fastAddress in
            try await slow.run { slowAddress in
                var (client, other) = (try await HitClient(fastAddress), try await HitClient(slowAddress))
                func responses(_ text: String) async throws -> (ReceivedResponse, ReceivedResponse) {
                    try await client.send(text)
                    try await other.send(Self.notPlain(text))
                    let isHead = text.hasPrefix("HEAD")
                    return (try await client.response(toHead: isHead), try await other.response(toHead: isHead))
                }
                _ = try await responses("GET /image?url=http://a.org/fresh HTTP/1.1\r\nHost: x\r\n\r\n")
                var fillers: [Task<Void, any Error>] = []
                for server in [fast, slow] {
                    await server.settle()
                    fillers += try await server.fillQueue(client: "127.0.0.1")
                }
                for step in steps {
                    let (received, expected) = try await responses(step.text)
                    #expect(try received.lasting(step) == expected.lasting(step), "\(step.text)")
                }
                for server in [fast, slow] { server.gate.open() }
                for filler in fillers { try await filler.value }
                try await client.close()
                try await other.close()
            }
        }
        try expectEqualRecords(of: fast, slow)
        #expect(fast.log.count { $0.status == 503 } > 30)
        #expect(fast.pipeline.load.refusals.map(\.count) == slow.pipeline.load.refusals.map(\.count))
        #expect(fast.answers.count > 30)
    }

    /// The same request with a field that leaves it to the framework, and its target to the grammar.
    private static func notPlain(_ text: String) -> String { text.dropLast() + "Content-Length: 0\r\n\r\n" }

    private func expectEqualRecords(of fast: HitServer, _ slow: HitServer) throws {
        #expect(fast.log.map(LoggedRequest.init) == slow.log.map(LoggedRequest.init))
        for name in ["darkroom_http_requests_total", "darkroom_http_request_duration_seconds"] + [
            "darkroom_http_problems_total", "darkroom_image_answers_total", "darkroom_image_stage_duration_seconds",
        ] {
            #expect(fast.metrics.counts(name) == slow.metrics.counts(name))
        }
    }

    @Test func `Misses, hits and other requests of one connection are answered in their order`() async throws {
        let server = HitServer(try Site.plain.configuration(), clock: TestClock())
        try await server.run { address in
            var client = try await HitClient(address)
            func ask(_ target: String, _ method: String = "GET") -> String {
                "\(method) \(target) HTTP/1.1\r\nHost: x\r\n\r\n"
            }
            let hit = "/image?url=http://a.org/fresh&output=jpg"
            for _ in 0..<3 {
                try await client.send(ask(hit))
                _ = try await client.response()
            }
            #expect(server.answers.count == 2)
            let batch = [hit, hit, "/health/live", hit, "/image?url=http://a.org/fresh&output=webp", hit]
            try await client.send(batch.map { ask($0) }.joined() + ask(hit, "HEAD"))
            var bodies: [String] = []
            for _ in batch { bodies.append(try await client.response().body) }
            let image = "jpeg of bytes of fresh at any quality"
            #expect(bodies[0..<2] == [image, image])
            #expect(bodies[2].contains("status"))
            #expect(bodies[3] == image)
            #expect(bodies[4].hasPrefix("webp"))
            #expect(bodies[5] == image)
            let head = try await client.response(toHead: true)
            #expect(head.fields["content-length"] == ["\(image.utf8.count)"])
            try await client.send(ask(hit))
            #expect(try await client.response().body == image)
            try await client.close()
        }
    }

    @Test func `A purge between two hits is honored at once`() async throws {
        let server = HitServer(try Site.plain.configuration(), clock: TestClock())
        try await server.run { address in
            var client = try await HitClient(address)
            func status() async throws -> String {
                try await client.send("GET /image?url=http://a.org/fresh HTTP/1.1\r\nHost: x\r\n\r\n")
                return try await client.response().fields["cache-status"]?.first ?? ""
            }
            for _ in 0..<3 { _ = try await status() }
            #expect(try await status().hasPrefix("darkroom;hit"))
            let answered = server.answers.count
            #expect(answered == 3)
            await server.pipeline.purge(.source(try SourceURL(parsing: "http://a.org/fresh")))
            #expect(try await status().hasPrefix("darkroom;fwd=miss"))
            #expect(server.answers.count == answered)
            await server.settle()
            #expect(try await status().hasPrefix("darkroom;hit"))
            await server.pipeline.purge(.source(try SourceURL(parsing: "http://a.org/fresh")), soft: true)
            #expect(try await status().hasPrefix("darkroom;fwd=stale"))
            try await client.close()
        }
    }

    @Test func `A hit on disk is answered too, once its file was read, until it is purged`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hits-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let disk = try await DiskStore(
            DiskStore.Configuration(directory: folder), logger: .quiet,
            // A file that was changed a moment ago might change again without a trace.
            now: { Date().addingTimeInterval(60) })
        let server = HitServer(try Site.plain.configuration(), clock: TestClock(), disk: disk)
        try await server.run { address in
            var client = try await HitClient(address)
            func status() async throws -> String {
                try await client.send("GET /image?url=http://a.org/fresh HTTP/1.1\r\nHost: x\r\n\r\n")
                return try await client.response().fields["cache-status"]?.first ?? ""
            }
            #expect(try await status().hasPrefix("darkroom;fwd=miss"))
            await server.settle()
            await disk.flush()
            for _ in 0..<4 { #expect(try await status().hasSuffix(";detail=disk")) }
            #expect(server.answers.count >= 2)
            #expect(server.metrics.events("darkroom_image_answers_total", "hit_disk") == 4)
            for entry in server.log {
                let numbers = entry.details.fields.filter { ["height", "source-bytes", "width"].contains($0.name) }
                #expect(numbers.map(\.value) == [.number(1), .number("bytes of fresh".utf8.count), .number(1)])
            }
            let answered = server.answers.count
            await server.pipeline.purge(.source(try SourceURL(parsing: "http://a.org/fresh")))
            #expect(try await status().hasPrefix("darkroom;fwd=miss"))
            #expect(server.answers.count == answered)
            try await client.close()
        }
        await disk.close()
    }

    @Test func `A large hit on disk is sent in pieces, with the fields of the first response`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hits-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let disk = try await DiskStore(
            DiskStore.Configuration(directory: folder), logger: .quiet, now: { Date().addingTimeInterval(60) })
        let server = HitServer(
            try Site.plain.configuration(), clock: TestClock(), disk: disk,
            processing: LargeImageProcessor())
        try await server.run { address in
            var client = try await HitClient(address)
            func response(_ target: String, method: String = "GET") async throws -> ReceivedResponse {
                try await client.send("\(method) \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
                return try await client.response(toHead: method == "HEAD")
            }
            let target = "/image?url=http://a.org/fresh"
            let miss = try await response(target)
            #expect(miss.body == LargeImageProcessor.text)
            await server.settle()
            await disk.flush()
            for _ in 0..<3 {
                let hit = try await response(target)
                #expect(hit.fields["cache-status"]?.first?.hasSuffix(";detail=disk") == true)
                for name in ["content-length", "content-type", "etag", "cache-control"] {
                    #expect(hit.fields[name] == miss.fields[name])
                }
                #expect(hit.body == miss.body)
            }
            let head = try await response(target, method: "HEAD")
            #expect(head.fields["content-length"] == miss.fields["content-length"])
            let encoded = try await response(target + "&encoding=base64")
            #expect(encoded.body.hasSuffix(Data(miss.body.utf8).base64EncodedString()))
            #expect(server.answers.count == 0)
            let request = ImageRequest(source: try SourceURL(parsing: "http://a.org/fresh"))
            #expect(String(buffer: try await server.pipeline.image(for: request).body) == miss.body)
            try await client.close()
        }
        await disk.close()
    }

    @Test func `A document about the cache reports its time, although its image is found at once`() async throws {
        let server = HitServer(try Site.plain.configuration(), clock: TestClock())
        try await server.run { address in
            var client = try await HitClient(address)
            for _ in 0..<3 {
                try await client.send("GET /info?url=http://a.org/fresh&fields=cache HTTP/1.1\r\nHost: x\r\n\r\n")
                let answer = try await client.response()
                #expect(answer.status == "HTTP/1.1 200 OK")
                #expect(answer.fields["server-timing"] != ["total;dur=0.000"])
            }
            try await client.close()
        }
    }

    @Test func `An expired signature is refused, although its image is a hit`() async throws {
        let clock = TestClock()
        let configuration = try Site.signed.configuration()
        let server = HitServer(configuration, clock: clock)
        var signing = configuration
        signing.now = { clock.date }
        let target = try URLSigner(signing).sign(
            "/image?url=http://a.org/fresh", expires: clock.date.addingTimeInterval(10))
        try await server.run { address in
            var client = try await HitClient(address)
            func response() async throws -> ReceivedResponse {
                try await client.send("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
                return try await client.response()
            }
            for _ in 0..<2 { _ = try await response() }
            clock.advance(by: .seconds(9.5))
            #expect(try await response().status == "HTTP/1.1 200 OK")
            #expect(server.answers.count == 2)
            clock.advance(by: .seconds(0.5))
            #expect(try await response().status == "HTTP/1.1 403 Forbidden")
            try await client.close()
        }
    }
}

extension HitTests {
    @Test func `One signed path is known in front, and no other spelling of it is answered there`() async throws {
        let key = ThumborKey("secret")
        var configuration = try Site.plain.configuration()
        configuration.pathDialect = Thumbor(key: key)
        let server = HitServer(configuration, clock: TestClock())
        let path = "30x20/filters:blur(9)/http://a.org/fresh"
        let target = "/\(key.sign(path))/\(path)"
        try await server.run { address in
            var client = try await HitClient(address)
            func response(_ target: String) async throws -> ReceivedResponse {
                try await client.send("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
                return try await client.response()
            }
            for _ in 0..<3 { _ = try await response(target) }
            let answered = server.answers.count
            #expect(answered == 2)
            for _ in 0..<2 {
                for other in [target + "?x=1", target.replacing("=", with: "%3D")] {
                    let answer = try await response(other)
                    #expect(answer.status == "HTTP/1.1 301 Moved Permanently", "\(other)")
                    #expect(answer.fields["location"] == [target])
                }
                #expect(try await response("http://a.org" + target).status == "HTTP/1.1 200 OK")
                for other in ["/" + target, target + "/", target.replacing("blur", with: "none")] {
                    #expect(try await response(other).status == "HTTP/1.1 403 Forbidden", "\(other)")
                }
            }
            #expect(server.answers.count == answered)
            try await client.close()
        }
    }
}

/// What the access log says of a request, but for durations and ids made by the server.
private struct LoggedRequest: Equatable {
    let method, path: String
    let status: Int
    let bytes: Int?
    let traceID, cacheStatus, problem: String?
    let details: AccessLogDetails
    let client: IPAddress?
    let isDisconnected: Bool

    init(_ entry: AccessLogEntry) {
        (method, path, status, bytes) = (entry.method, entry.path, entry.status, entry.bytes)
        (traceID, cacheStatus, client) = (entry.traceID, entry.cacheStatus, entry.client)
        (problem, details) = (entry.problem, entry.details)
        isDisconnected = entry.isDisconnected
    }
}

extension ReceivedResponse {
    /// The response without what may differ from one to the next: the date, durations, and an id that is not the
    /// client's.
    fileprivate func lasting(_ step: RequestGenerator.Step) throws -> ReceivedResponse {
        var response = self
        response.fields["date"] = [""]
        if response.fields["retry-after"] != nil { response.fields["retry-after"] = [""] }
        if let timing = response.fields["server-timing"] {
            response.fields["server-timing"] = timing.map { $0.replacing(/dur=[0-9.]+/, with: "") }
        }
        if !step.hasOwnID {
            let id = try #require(response.fields["x-request-id"]?.first)
            response.body = body.replacing(id, with: "")
            response.fields["x-request-id"] = [""]
            // The length of an id made by the server varies.
            if response.body != body { response.fields["content-length"] = [""] }
        }
        return response
    }
}

extension RecordingMetrics {
    /// The number of events by labels.
    fileprivate func counts(_ name: String) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: labels(name).map { ($0, events(name, $0)) })
    }
}
