import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import Foundation
import HTTPTypes
import Hummingbird
import Synchronization
import Testing

@testable import DarkroomLoading
@testable import DarkroomPipeline
@testable import DarkroomWeb

@Suite(.timeLimit(.minutes(5)))
struct PrefetchTests {
    private static let token = "correct-horse-battery"
    private let admin: HTTPFields = [.authorization: "Bearer \(Self.token)", .contentType: "application/json"]

    private func site(_ prefetcher: Prefetcher = Prefetcher { _ in .stub() }) -> TestSite {
        TestSite(configuration: .test(token: Self.token), prefetch: PrefetchEndpoint(prefetcher: prefetcher))
    }

    private func document(_ response: Response) async throws -> PrefetchDocument {
        try JSONDecoder.ofServer.decode(PrefetchDocument.self, from: Data(try await response.text().utf8))
    }

    @Test func `A job is accepted with its URL, which reports its progress`() async throws {
        let prefetcher = Prefetcher { _ in .stub() }
        let site = site(prefetcher)
        let response = try await site.respond(
            "/prefetch", method: .post, fields: admin,
            body: #"{"urls":["https://a.org/1","https://a.org/2"],"queries":["w=9&output=webp"],"widths":[7]}"#)
        #expect(response.status == .accepted)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.cacheControl] == "no-store")
        let location = try #require(response.headers[.location])
        let accepted = try await document(response)
        #expect(location == "/prefetch/\(accepted.id)")
        #expect(accepted.total == 4)
        for await _ in try #require(prefetcher.jobs.first).updates {}
        let done = try await document(try await site.respond(location, fields: admin))
        #expect(done.state == "done" && done.done == 4 && done.bytes == 20 && done.etaSeconds == nil)
        #expect(done.created == accepted.created && done.created.hasSuffix("Z"))
    }

    @Test func `Every source is combined with every query, grouped by source`() async throws {
        let asked = Mutex<[String]>([])
        let prefetcher = Prefetcher(concurrency: 1) { request in
            asked.withLock { $0.append("\(request.source.path) \(request.recipe.box.width ?? 0)") }
            return .stub()
        }
        let body = #"{"urls":["https://a.org/1","https://a.org/2"],"queries":["w=9"],"widths":[7,8]}"#
        _ = try await site(prefetcher).respond("/prefetch", method: .post, fields: admin, body: body)
        for await _ in try #require(prefetcher.jobs.first).updates {}
        #expect(asked.withLock { $0 } == ["/1 9", "/1 7", "/1 8", "/2 9", "/2 7", "/2 8"])
    }

    @Test(arguments: [
        (nil, "", nil), ("image/webp", "", OutputFormat.webp), ("image/webp", "output=png", .png),
        ("application/json", "", nil),
    ])
    func `Without a format, the client's Accept decides, as for an image`(
        accept: String?, query: String, format: OutputFormat?
    ) async throws {
        let outputs = Mutex<[OutputFormat?]>([])
        let prefetcher = Prefetcher { request in
            outputs.withLock { $0.append(request.output.format) }
            return .stub()
        }
        var fields = admin
        fields[.accept] = accept
        let body = #"{"urls":["https://a.org/1"],"queries":["\#(query)"]}"#
        _ = try await site(prefetcher).respond("/prefetch", method: .post, fields: fields, body: body)
        for await _ in try #require(prefetcher.jobs.first).updates {}
        #expect(outputs.withLock { $0 } == [format])
    }

    @Test func `Failures list source, query and the problem that /image would report`() async throws {
        let prefetcher = Prefetcher { _ throws(PipelineError) in throw .notFound(status: 404) }
        let site = site(prefetcher)
        let body = #"{"urls":["HTTPS://A.org/1"],"widths":[7]}"#
        _ = try await site.respond("/prefetch", method: .post, fields: admin, body: body)
        for await _ in try #require(prefetcher.jobs.first).updates {}
        let job = try #require(prefetcher.jobs.first)
        let document = try await document(
            try await site.respond("/prefetch/\(job.id.uuidString.lowercased())", fields: admin))
        #expect(document.failed == 1)
        #expect(
            document.failures == [
                .init(
                    url: "https://a.org/1", query: "w=7", type: "/problems/source-not-found",
                    detail: "The origin has no image at this URL.")
            ])
    }

    @Test func `Jobs are listed newest first, and DELETE cancels them`() async throws {
        let site = site(.held)
        for width in 1...2 {
            let body = #"{"urls":["https://a.org/1"],"widths":[\#(width),9]}"#
            _ = try await site.respond("/prefetch", method: .post, fields: admin, body: body)
        }
        let text = try await site.respond("/prefetch", fields: admin).text()
        let jobs = try JSONDecoder.ofServer.decode(PrefetchList.self, from: Data(text.utf8)).jobs
        #expect(jobs.map(\.state) == ["running", "running"])
        let path = "/prefetch/\(try #require(jobs.last).id)"
        let response = try await site.respond(path, method: .delete, fields: admin)
        #expect(response.status == .ok)
        #expect(try await document(response).state == "cancelled")
        #expect(try await document(try await site.respond(path, fields: admin)).state == "cancelled")
    }

    @Test func `A job beyond the maximum of running jobs is refused with a retry time`() async throws {
        let prefetcher = Prefetcher.held
        for _ in 0..<64 { _ = try prefetcher.start([try ImageRequest(url: "https://a.org/")]) }
        let response = try await site(prefetcher).respond(
            "/prefetch", method: .post, fields: admin, body: #"{"urls":["https://a.org/"]}"#)
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers[.retryAfter] == "60")
        prefetcher.shutdown()
        let late = try await site(prefetcher).problem(
            "/prefetch", method: .post, fields: admin, body: #"{"urls":["https://a.org/"]}"#)
        #expect(late.type == "/problems/unavailable")
    }

    @Test(arguments: [
        ("/prefetch", HTTPRequest.Method.get), ("/prefetch", .post), ("/prefetch/x", .get), ("/prefetch/x", .delete),
        ("/prefetch/x/events", .get),
    ])
    func `Prefetching requires the token`(path: String, method: HTTPRequest.Method) async throws {
        let prefetcher = Prefetcher.held
        let body = #"{"urls":["https://a.org/"]}"#
        let fields: HTTPFields = [.contentType: "application/json"]
        let problem = try await site(prefetcher).problem(path, method: method, fields: fields, body: body)
        #expect(problem.status == 401)
        #expect(try await TestSite().problem(path, method: method, fields: admin, body: body).status == 403)
        #expect(prefetcher.jobs.isEmpty)
    }

    @Test(arguments: [("", HTTPRequest.Method.get), ("", .delete), ("/events", .get)])
    func `Unknown and expired job ids are not found`(rest: String, method: HTTPRequest.Method)
        async throws
    {
        for id in ["x", "00000000-0000-4000-8000-000000000000"] {
            let problem = try await site().problem("/prefetch/\(id)\(rest)", method: method, fields: admin)
            #expect(problem.status == 404)
            #expect(problem.type == "/problems/no-such-job")
        }
    }

    @Test func `Event streams support GET only`() async throws {
        for method in [HTTPRequest.Method.head, .post, .delete] {
            let response = try await site().respond("/prefetch/x/events", method: method, fields: admin)
            #expect(response.status == .methodNotAllowed)
            #expect(response.headers[.allow] == "GET")
        }
    }
}

extension Prefetcher {
    /// One whose pictures are never ready.
    static var held: Prefetcher {
        Prefetcher { _ throws(PipelineError) in
            let (never, source) = AsyncStream<Void>.makeStream()
            await never.first { true }
            withExtendedLifetime(source) {}
            throw .cancelled
        }
    }
}
