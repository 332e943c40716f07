import AsyncHTTPClient
import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import Testing

/// `/prefetch` on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct PrefetchRouteTests {
    private static let token = "a-token-of-enough-letters"
    private let admin = [("Authorization", "Bearer \(Self.token)")]

    private struct Job: Decodable {
        var id: String
        var state: String
        var total: Int
        var done: Int
        var failed: Int
        var bytes: Int
        var failures: [[String: String]]
    }

    private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
        try await DarkroomProcess(["--allow-networks", "127.0.0.0/8", "--admin-token", Self.token] + flags)
    }

    /// Starts a job and returns the path of its state.
    private func start(_ server: DarkroomProcess, _ body: String) async throws -> String {
        var request = HTTPClientRequest(url: "\(server.base)/prefetch")
        request.method = .POST
        request.headers = HTTPHeaders(admin + [("Content-Type", "application/json")])
        request.body = .bytes(ByteBuffer(string: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .minutes(4))
        #expect(response.status == .accepted)
        _ = try await response.body.collect(upTo: 1 << 20)
        return server.base + (try #require(response.headers.first(name: "location")))
    }

    private func job(_ address: String, method: HTTPMethod = .GET) async throws -> Job {
        let answer = try await Client.get(address, method: method, fields: admin)
        #expect(answer.status == 200)
        return try JSONDecoder().decode(Job.self, from: answer.body)
    }

    /// The events of a stream as they come, each with its data.
    private func watch(_ address: String, _ note: (String, Job) -> Void) async throws {
        var request = HTTPClientRequest(url: address + "/events")
        request.headers = HTTPHeaders(admin)
        let response = try await HTTPClient.shared.execute(request, timeout: .minutes(4))
        #expect(response.headers.first(name: "content-type") == "text/event-stream")
        var text = ""
        for try await part in response.body {
            text += String(buffer: part)
            while let end = text.range(of: "\n\n") {
                let lines = text[..<end.lowerBound].components(separatedBy: "\n")
                text = String(text[end.upperBound...])
                guard lines.count == 2 else { continue }
                let data = Data(lines[1].dropFirst("data: ".count).utf8)
                note(String(lines[0].dropFirst("event: ".count)), try JSONDecoder().decode(Job.self, from: data))
            }
        }
        #expect(text.isEmpty)
    }

    @Test func `Prefetched pictures are hits, what failed says why, and metrics count both`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        origin.answer("/gone.jpg", .status("404 Not Found"))
        let server = try await server()
        let address = try await start(
            server,
            #"{"urls":["\#(origin.url())","\#(origin.url("/gone.jpg"))"],"widths":[20,30],"queries":["w=40&output=webp"]}"#
        )
        var events: [String] = []
        var last: Job?
        try await watch(address) { name, job in
            events.append(name)
            last = job
        }
        #expect(events.last == "end" && events.dropLast().allSatisfy { $0 == "progress" })
        #expect(last?.state == "done" && last?.total == 6 && last?.done == 3 && last?.failed == 3)
        let job = try await job(address)
        #expect(job.done == 3)
        #expect(job.failures.map { $0["type"] } == Array(repeating: "/problems/source-not-found", count: 3))
        #expect(Set(job.failures.map { $0["query"] }) == ["w=20", "w=30", "w=40&output=webp"])
        var bytes = 0
        for query in ["w=20", "w=30", "w=40&output=webp"] {
            let answer = try await server.image(origin.url(), query)
            #expect(answer["cache-status"]?.contains("hit") == true, "\(query)")
            bytes += answer.body.readableBytes
        }
        #expect(job.bytes == bytes)
        let metrics = String(buffer: try await Client.get("\(server.base)/metrics", fields: admin).body)
        #expect(metrics.contains("\ndarkroom_prefetch_jobs_running 0\n"))
        #expect(metrics.contains("\ndarkroom_prefetch_images_total{result=\"ready\"} 3\n"))
        #expect(metrics.contains("\ndarkroom_prefetch_images_total{result=\"failed\"} 3\n"))
    }

    @Test func `A cancelled job gives its download up, and its stream says so`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg"))
        let gate = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        origin.hold(until: gate.futureResult)
        let server = try await server()
        let address = try await start(server, #"{"urls":["\#(origin.url())"],"widths":[20,30]}"#)
        for await _ in origin.origin.arrivals { break }
        #expect(try await job(address).state == "running")
        async let cancelled = job(address, method: .DELETE)
        var states: [String] = []
        try await watch(address) { _, job in states.append(job.state) }
        #expect(states.last == "cancelled")
        #expect(try await cancelled.state == "cancelled")
        gate.succeed()
    }

    @Test func `SIGTERM cancels jobs and ends their streams at once, so that they hold up nothing`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg"))
        let gate = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        origin.hold(until: gate.futureResult)
        let server = try await server()
        let address = try await start(server, #"{"urls":["\#(origin.url())"]}"#)
        for await _ in origin.origin.arrivals { break }
        var states: [String] = []
        try await watch(address) { _, job in
            if states.isEmpty { kill(server.identifier, SIGTERM) }
            states.append(job.state)
        }
        #expect(states.first == "running" && states.last == "cancelled")
        #expect(await server.wait() == 0)
        gate.succeed()
    }
}
