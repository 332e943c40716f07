import DarkroomTestClock
import DarkroomTestOrigin
import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Testing

@testable import DarkroomObjectStorage

/// Stores that hang, lie, or are no stores.
@Suite(.timeLimit(.minutes(5)))
struct HostileStoreTests {
    typealias Script = @Sendable (TestOrigin.Request) -> [TestOrigin.Step]

    private let limit = Duration.seconds(30)

    private func error(
        of operation: (ObjectStore) async throws(ObjectStorageError) -> Void, by script: @escaping Script
    ) async throws -> ObjectStorageError? {
        var result: ObjectStorageError?
        try await StubStore.run(script: script) { stub in
            do throws(ObjectStorageError) { try await operation(stub.store) } catch { result = error }
        }
        return result
    }

    private func getError(_ script: @escaping Script) async throws -> ObjectStorageError? {
        let name = try ObjectName.media("k")
        return try await error(
            of: { store throws(ObjectStorageError) in _ = try await store.get(name, maxBytes: 1000, within: limit) },
            by: script)
    }

    @Test(arguments: [
        (
            "301 Moved Permanently", "PermanentRedirect", ["x-amz-bucket-region: eu-west-1"],
            ObjectStorageError.redirected(region: "eu-west-1")
        ),
        ("307 Temporary Redirect", "TemporaryRedirect", ["Location: http://127.0.0.1:1/"], .redirected(region: nil)),
        ("403 Forbidden", "AccessDenied", [], .forbidden(code: S3ErrorCode("AccessDenied"))),
        ("401 Unauthorized", "Unauthorized", [], .forbidden(code: S3ErrorCode("Unauthorized"))),
        ("404 Not Found", "NoSuchKey", [], .notFound), ("404 Not Found", "NoSuchBucket", [], .noSuchBucket),
        (
            "412 Precondition Failed", "PreconditionFailed", [],
            .refused(status: 412, code: S3ErrorCode("PreconditionFailed"))
        ),
        ("416 Range Not Satisfiable", "InvalidRange", [], .refused(status: 416, code: S3ErrorCode("InvalidRange"))),
        ("429 Too Many Requests", "TooManyRequests", [], .slowDown),
        (
            "400 Bad Request", "AuthorizationHeaderMalformed", [],
            .refused(status: 400, code: S3ErrorCode("AuthorizationHeaderMalformed"))
        ),
        (
            "500 Internal Server Error", "InternalError", [],
            .unavailable(status: 500, code: S3ErrorCode("InternalError"))
        ),
        ("502 Bad Gateway", "Bad", [], .unavailable(status: 502, code: S3ErrorCode("Bad"))),
        ("503 Service Unavailable", "SlowDown", [], .slowDown),
        (
            "503 Service Unavailable", "ServiceUnavailable", [],
            .unavailable(status: 503, code: S3ErrorCode("ServiceUnavailable"))
        ),
        ("206 Partial Content", "None", [], .notS3(status: 206)), ("304 Not Modified", "None", [], .notS3(status: 304)),
    ])
    func `Errors are typed`(status: String, code: String, fields: [String], expected: ObjectStorageError) async throws {
        #expect(try await getError { _ in Reply.error(status, code, fields: fields) } == expected)
        #expect(!"\(expected)".contains("secret"))
    }

    @Test(arguments: ["200 OK", "404 Not Found", "400 Bad Request", "405 Method Not Allowed"])
    func `Pages of a web server are no answers`(status: String) async throws {
        let status = status
        let code = try #require(Int(status.prefix(3)))
        #expect(try await getError { _ in [.respond(status, body: Reply.page)] } == .notS3(status: code))
    }

    @Test func `A page is no answer to writing and deleting`() async throws {
        let name = try ObjectName.media("k")
        let page: Script = { _ in [.respond("200 OK", body: Reply.page)] }
        let put = try await error(
            of: { store throws(ObjectStorageError) in
                try await store.put(name, ByteBuffer(string: "b"), within: limit)
            }, by: page)
        #expect(put == .notS3(status: 200))
        let delete = try await error(
            of: { store throws(ObjectStorageError) in try await store.delete(name, within: limit) }, by: page)
        #expect(delete == .notS3(status: 200))
    }

    @Test func `An object without ETag is an answer`() async throws {
        // JuiceFS sends none.
        #expect(try await getError { _ in [.respond(fields: ["x-amz-request-id: 1"], body: "x")] } == nil)
    }

    @Test func `Codes of errors are bounded`() async throws {
        let long = String(repeating: "A", count: 65)
        #expect(try await getError { _ in Reply.error("403 Forbidden", long) } == .forbidden(code: nil))
        #expect(try await getError { _ in Reply.error("403 Forbidden", "a\nb") } == .forbidden(code: nil))
        let region = "Region: evil/../region"
        let redirect = try await getError { _ in Reply.error("301 Moved", "Moved", fields: ["x-amz-bucket-\(region)"]) }
        #expect(redirect == .redirected(region: nil))
    }

    @Test func `Redirects are not followed`() async throws {
        try await StubStore.run { _ in
            [.redirect("307 Temporary Redirect", to: "/media/other")]
        } testing: { stub in
            await #expect(throws: ObjectStorageError.redirected(region: nil)) {
                try await stub.store.head(.media("k"), within: limit)
            }
            #expect(stub.origin.requests.count == 1)
        }
    }

    @Test func `An announced length over the limit is not received`() async throws {
        let script: Script = { _ in
            [.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 5368709120\r\n\r\n"), .sendForever("xxxx")]
        }
        #expect(try await getError(script) == .tooLarge(limitBytes: 1000))
    }

    @Test func `An endless body is counted`() async throws {
        let script: Script = { _ in
            [.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\n\r\n"), .sendForever(String(repeating: "x", count: 999))]
        }
        #expect(try await getError(script) == .tooLarge(limitBytes: 1000))
        let name = try ObjectName.media("k")
        let streamed = try await error(
            of: { store throws(ObjectStorageError) in
                _ = try await store.get(name, ObjectRead(maxBytes: 1000), within: limit) { _ in }
            }, by: script)
        #expect(streamed == .tooLarge(limitBytes: 1000))
    }

    @Test(arguments: ["200 OK", "403 Forbidden", "500 Internal Server Error"])
    func `Endless documents are not received`(status: String) async throws {
        let bucket = try BucketName("media")
        let listed = try await error(
            of: { store throws(ObjectStorageError) in _ = try await store.list(bucket, within: limit) },
            by: { _ in [.send("HTTP/1.1 \(status)\r\n\r\n<a>"), .sendForever(String(repeating: "x", count: 65536))] })
        #expect(listed != nil)
        #expect(listed != .canceled)
    }

    @Test func `Content codings are not decoded`() async throws {
        try await StubStore.run { _ in
            Reply.object("\u{1f}bomb", fields: ["Content-Encoding: gzip"])
        } testing: {
            stub in
            let object = try await stub.store.get(.media("k"), maxBytes: 100, within: limit)
            #expect(String(buffer: object.body) == "\u{1f}bomb")
            #expect(object.attributes.fields[.contentEncoding] == "gzip")
        }
    }

    @Test func `Interim responses are skipped`() async throws {
        try await StubStore.run { request in
            [.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")] + Reply.object("x")
        } testing: { stub in
            let object = try await stub.store.get(.media("k"), maxBytes: 100, within: limit)
            #expect(String(buffer: object.body) == "x")
            try await stub.store.put(.media("k"), ByteBuffer(string: "b"), within: limit)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 099 Low\r\n\r\n", "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 70_000))\r\n\r\n",
    ])
    func `What is not HTTP is malformed`(bytes: String) async throws {
        #expect(try await getError { _ in [.send(bytes), .stall] } == .unreachable(.malformed))
    }

    @Test(arguments: [TestOrigin.Step.stall, .drip])
    func `A store that hangs meets the time limit`(step: TestOrigin.Step) async throws {
        let clock = TestClock()
        try await StubStore.run(
            clock: clock
        ) { _ in
            [.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 900\r\n\r\nx"), step]
        } testing: { stub in
            let (parts, part) = AsyncStream<Void>.makeStream()
            async let expiry: Void = pass(limit, of: clock, after: parts)
            await #expect(throws: ObjectStorageError.timedOut(.body)) {
                try await stub.store.get(.media("k"), ObjectRead(maxBytes: 1000), within: limit) {
                    if case .bytes = $0 { part.yield() }
                }
            }
            await expiry
            for await _ in stub.origin.hangUps { break }
        }
    }

    /// Lets a time limit pass once it has begun and the event has happened.
    private func pass<Event>(_ limit: Duration, of clock: TestClock, after events: AsyncStream<Event>) async {
        for await _ in events { break }
        _ = await clock.nextSleep()
        clock.advance(by: limit)
    }

    @Test func `A store that never answers meets the time limit`() async throws {
        let clock = TestClock()
        try await StubStore.run(clock: clock) { _ in
            [.stall]
        } testing: { stub in
            async let expiry: Void = pass(limit, of: clock, after: stub.origin.arrivals)
            await #expect(throws: ObjectStorageError.timedOut(.response)) {
                try await stub.store.put(.media("k"), ByteBuffer(string: "b"), within: limit)
            }
            await expiry
            for await _ in stub.origin.hangUps { break }
        }
    }

    @Test func `Credentials that hang meet the time limit`() async throws {
        let clock = TestClock()
        let (silence, writer) = AsyncStream<Never>.makeStream()
        let (loads, load) = AsyncStream<Void>.makeStream()
        let hang = { @Sendable () async throws(CredentialsError) -> Credentials in
            load.yield()
            for await _ in silence {}
            throw .notFound
        }
        let credentials = RenewingCredentials(load: hang, now: { Date() })
        try await StubStore.run(clock: clock, credentials: credentials) { _ in
            Reply.object("")
        } testing: { stub in
            async let expiry: Void = pass(limit, of: clock, after: loads)
            await #expect(throws: ObjectStorageError.timedOut(.credentials)) {
                try await stub.store.head(.media("k"), within: limit)
            }
            await expiry
            #expect(stub.origin.connectionCount == 0)
        }
        writer.finish()
    }

    @Test func `Without credentials nothing is sent`() async throws {
        let load = { @Sendable () async throws(CredentialsError) -> Credentials in throw .profileNotFound("work") }
        let credentials = RenewingCredentials(load: load, now: { Date() }, logger: .silent)
        try await StubStore.run(credentials: credentials) { _ in
            Reply.object("")
        } testing: { stub in
            await #expect(throws: ObjectStorageError.credentials(.profileNotFound("work"))) {
                try await stub.store.head(.media("k"), within: limit)
            }
            #expect(stub.origin.connectionCount == 0)
        }
    }

    @Test func `Canceling the task ends the operation`() async throws {
        try await StubStore.run { _ in
            [.stall]
        } testing: { stub in
            let name = try ObjectName.media("k")
            let task = Task { try await stub.store.head(name, within: limit) }
            for await _ in stub.origin.arrivals { break }
            task.cancel()
            await #expect(throws: ObjectStorageError.canceled) { try await task.value }
            for await _ in stub.origin.hangUps { break }
        }
    }

    @Test func `A refused connection is reported`() async throws {
        let store = try ObjectStore(
            ObjectStoreSettings(endpoint: ObjectStoreEndpoint(parsing: "http://127.0.0.1:1"), region: "us-east-1"),
            credentials: StaticCredentials(.test), eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
        await #expect(throws: ObjectStorageError.unreachable(.refused)) {
            try await store.head(.media("k"), within: limit)
        }
        await store.shutdown()
    }

    @Test func `An unknown host is reported`() async throws {
        let store = try ObjectStore(
            ObjectStoreSettings(endpoint: ObjectStoreEndpoint(parsing: "http://store.invalid"), region: "us-east-1"),
            credentials: StaticCredentials(.test), eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
        await #expect(throws: ObjectStorageError.unreachable(.dns)) {
            try await store.head(.media("k"), within: limit)
        }
        await store.shutdown()
    }
}
