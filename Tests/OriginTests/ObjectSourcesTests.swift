import DarkroomTestOrigin
import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import DarkroomMachine
@testable import DarkroomNetwork
@testable import DarkroomObjectStorage
@testable import DarkroomOrigin

/// A stub of an object store, and sources in it: `media` allows all keys, `shop` those below `products/` and `sale/`.
struct StubSources {
    let store: TestOrigin
    let sources: ObjectSources
    let client: GuardedHTTPClient
    let log: LogLines

    static func run(
        _ change: (inout GuardedHTTPClient.Settings) -> Void = { _ in }, clock: any Clock<Duration> = ContinuousClock(),
        circuits: CircuitBreakerTable = .forTests(),
        script: @escaping @Sendable (TestOrigin.Request) -> [TestOrigin.Step],
        testing body: (StubSources) async throws -> Void
    ) async throws {
        let origin = TestOrigin(script: script)
        try await origin.start()
        let group = MultiThreadedEventLoopGroup.singleton
        var limits = GuardedHTTPClient.Settings()
        change(&limits)
        let log = LogLines()
        let client = GuardedHTTPClient(
            settings: limits, resolver: ScriptedResolver(), eventLoopGroup: group, clock: clock, jitter: { .zero },
            circuits: circuits, logger: .silent)
        let store = try ObjectStore(
            ObjectStoreSettings(
                endpoint: try ObjectStoreEndpoint(parsing: "http://127.0.0.1:\(origin.port)"), region: "us-east-1"),
            credentials: StaticCredentials(try Credentials(accessKey: "TESTKEY", secretKey: "secret")),
            eventLoopGroup: group, random: { 0 })
        let bucket = try BucketName("private-bucket")
        let sources = ObjectSources(
            [
                ObjectSource(name: "media", storeName: "default", store: store, bucket: bucket, prefixes: [""]),
                ObjectSource(
                    name: "shop", storeName: "default", store: store, bucket: bucket, prefixes: ["products/", "sale/"]),
            ],
            sharingLimitsOf: client, maxSourceBytes: limits.maxSourceBytes, eventLoopGroup: group, logger: log.logger)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body(StubSources(store: origin, sources: sources, client: client, log: log)))
        } catch {
            result = .failure(error)
        }
        await store.shutdown()
        await client.shutdown()
        try await origin.stop()
        try result.get()
    }
}

extension SourceURL {
    static func object(_ text: String = "s3://media/a.jpg") -> SourceURL {
        guard let url = try? SourceURL(parsing: text) else { preconditionFailure("the URL is valid") }
        return url
    }
}

@Suite(.timeLimit(.minutes(1)))
struct ObjectSourcesTests {
    private static let object = TestOrigin.Step.respond(fields: [
        "ETag: \"e\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Cache-Control: max-age=60",
        "Content-Type: image/jpeg", "x-amz-request-id: 1", "Server: Ceph", "Vary: Origin",
    ])

    /// The error of reading one object.
    private func failure(
        of text: String = "s3://media/a.jpg", maxSourceBytes: Int = 50 << 20,
        downloadTimeout: Duration = .seconds(15),
        _ script: @escaping @Sendable (TestOrigin.Request) -> [TestOrigin.Step]
    ) async throws -> (error: OriginError?, requests: Int, log: [String]) {
        var result: (OriginError?, Int, [String]) = (nil, 0, [])
        let change: (inout GuardedHTTPClient.Settings) -> Void = {
            ($0.maxSourceBytes, $0.downloadTimeout) = (maxSourceBytes, downloadTimeout)
        }
        try await StubSources.run(change, script: script) { stub in
            let error = await stub.sources.failure(of: .object(text))
            result = (error?.bare, stub.store.requests.count, stub.log.lines)
        }
        return result
    }

    @Test func `an object is read whole, with the fields that matter to caching`() async throws {
        try await StubSources.run { _ in
            [Self.object]
        } testing: { stub in
            let response = try await stub.sources.fetch(.object("s3://media/a%20b/%C3%BC.jpg"))
            #expect(String(buffer: response.body) == "picture")
            #expect(response.status == .ok)
            #expect(Set(response.headers.map(\.name)) == [.eTag, .lastModified, .cacheControl, .contentType])
            #expect(response.url.canonical == "s3://media/a%20b/%C3%BC.jpg")
            #expect(response.sentFields.isEmpty)
            let request = try #require(stub.store.requests.first)
            #expect(request.target == "/private-bucket/a%20b/%C3%BC.jpg")
            #expect(request.fields["authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=TESTKEY/") == true)
        }
    }

    @Test func `fields of the caller are not sent to a store`() async throws {
        try await StubSources.run { _ in
            [Self.object]
        } testing: { stub in
            _ = try await stub.sources.fetch(.object(), headers: [.cookie: "a=b", .accept: "image/png"])
            #expect(stub.store.requests.first?.fields["cookie"] == nil)
            #expect(stub.store.requests.first?.fields["accept"] == nil)
        }
    }

    @Test func `validators of the same object are sent, and 304 keeps it`() async throws {
        try await StubSources.run { _ in
            [.notModified(fields: ["ETag: \"e\"", "Cache-Control: max-age=9"])]
        } testing: {
            stub in
            let url = SourceURL.object()
            let answer = try await stub.sources.revalidate(
                url, [.ifNoneMatch: "\"e\"", .ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"], of: url)
            #expect(answer.isNotModified && answer.body.readableBytes == 0)
            #expect(answer.headers[.cacheControl] == "max-age=9")
            let fields = try #require(stub.store.requests.first?.fields)
            #expect(fields["if-none-match"] == "\"e\"")
            #expect(fields["if-modified-since"] == "Sun, 06 Nov 1994 08:49:37 GMT")
            _ = await stub.sources.failure(of: url)
            _ = try? await stub.sources.revalidate(url, of: .object("s3://media/other"))
            #expect(stub.store.requests.dropFirst().allSatisfy { $0.fields["if-none-match"] == nil })
        }
    }

    @Test(arguments: [
        ("s3://media/secret/x", true), ("s3://shop/products/x", true), ("s3://shop/sale/%2e%2e%2e", true),
        ("s3://shop/secret/x", false), ("s3://shop/products", false), ("s3://shop/productsx/y", false),
        ("s3://shop/%70roducts/x", true), ("s3://shop/products%2Fx", true), ("s3://shop/products%252Fx", false),
        ("s3://shop//products/x", false), ("s3://shop/Products/x", false), ("s3://private-bucket/x", false),
        ("s3://other/products/x", false),
    ])
    func `only listed buckets and prefixes are read`(text: String, isAllowed: Bool) async throws {
        try await StubSources.run { _ in
            [Self.object]
        } testing: { stub in
            let url = SourceURL.object(text)
            let expected: OriginError? = isAllowed ? nil : .notAllowed(.object)
            #expect(stub.sources.refusal(of: url) == expected)
            #expect(await stub.sources.failure(of: url) == expected)
            #expect(stub.store.requests.count == (isAllowed ? 1 : 0))
        }
    }

    @Test func `other schemes are not read from a store, nor objects by web clients`() async throws {
        try await StubSources.run { _ in
            [Self.object]
        } testing: { stub in
            for text in ["https://media/a", "local:///media/a"] {
                guard case .invalidURL = stub.sources.refusal(of: SourceURL.object(text)) else {
                    Issue.record("\(text) is allowed")
                    continue
                }
            }
            #expect(await stub.client.failure(of: .object()) == .invalidURL(.unsupportedScheme("s3")))
            let router = OriginRouter(remote: stub.client, local: stub.client)
            #expect(await router.failure(of: .object()) == .notAllowed(.object))
            #expect(stub.store.requests.isEmpty)
        }
    }

    @Test func `a web server cannot redirect to an object`() async throws {
        let script: @Sendable (TestOrigin.Request) -> [TestOrigin.Step] = { _ in [.redirect(to: "s3://media/a.jpg")] }
        try await withOrigin(script: script) { client, origin in
            let url = try origin.url()
            #expect(await client.failure(of: url) == .badRedirect(.invalidLocation))
        }
    }

    // MARK: Problems

    @Test(arguments: [
        ("404 Not Found", "NoSuchKey", OriginError.notFound(404), false),
        ("404 Not Found", "NoSuchBucket", .unreachable(.configuration), true),
        ("403 Forbidden", "AccessDenied", .unexpectedStatus(403), false),
        ("403 Forbidden", "InvalidAccessKeyId", .unreachable(.configuration), true),
        ("403 Forbidden", "SignatureDoesNotMatch", .unreachable(.configuration), true),
        ("400 Bad Request", "AuthorizationHeaderMalformed", .unreachable(.configuration), true),
        ("301 Moved Permanently", "PermanentRedirect", .unreachable(.configuration), true),
        ("400 Bad Request", "Strange", .unexpectedStatus(400), false),
        ("503 Slow Down", "SlowDown", .unexpectedStatus(503), false),
        ("500 Oops", "InternalError", .unexpectedStatus(500), false),
    ])
    func `answers of the store are told apart, and faults of the configuration are logged`(
        status: String, code: String, error: OriginError, isLogged: Bool
    ) async throws {
        let result = try await failure { _ in
            [.respond(status, fields: ["Location: http://127.0.0.1:1/"], body: "<Error><Code>\(code)</Code></Error>")]
        }
        #expect(result.error == error)
        #expect(result.log.count == (isLogged ? 1 : 0))
        #expect(!"\(result.error.map(\.description) ?? "")".contains("private-bucket"))
        #expect(!result.log.joined().contains("secret"))
    }

    @Test func `a web server in place of a store is a fault of the configuration, logged until it is over`()
        async throws
    {
        let script: @Sendable (TestOrigin.Request) -> [TestOrigin.Step] = { request in
            request.index == 2 ? [Self.object] : [.respond(body: "<!DOCTYPE html><title>Welcome</title>")]
        }
        try await StubSources.run(script: script) { stub in
            for expected in [OriginError.unreachable(.configuration), .unreachable(.configuration), nil] {
                #expect(await stub.sources.failure(of: .object()) == expected)
            }
            #expect(await stub.sources.failure(of: .object()) == .unreachable(.configuration))
            #expect(
                stub.log.lines == ["objects cannot be read", "objects can be read again", "objects cannot be read"])
        }
    }

    @Test func `a redirect is not followed`() async throws {
        let other = TestOrigin { _ in [Self.object] }
        try await other.start()
        let port = other.port
        let result = try await failure { _ in [.redirect("307 Temporary Redirect", to: "http://127.0.0.1:\(port)/")] }
        #expect(result.error == .unreachable(.configuration))
        #expect(other.requests.isEmpty)
        try await other.stop()
    }

    @Test(arguments: ["gzip", "GZIP", "br, identity", "aws-chunked, gzip"])
    func `an encoded object is refused as HTTP sources are`(coding: String) async throws {
        let result = try await failure { _ in [.respond(fields: ["ETag: \"e\"", "Content-Encoding: \(coding)"])] }
        #expect(result.error == .unacceptableEncoding)
    }

    @Test(arguments: ["identity", "aws-chunked", "aws-chunked , Identity", ""])
    func `what an upload was encoded with does not matter`(coding: String) async throws {
        let result = try await failure { _ in [.respond(fields: ["ETag: \"e\"", "Content-Encoding: \(coding)"])] }
        #expect(result.error == nil)
    }

    // MARK: Limits

    @Test func `an object of 5 GB is refused at its announced length`() async throws {
        let result = try await failure(maxSourceBytes: 1000) { _ in
            [.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 5368709120\r\n\r\n"), .sendForever("x")]
        }
        #expect(result.error == .tooLarge(limitBytes: 1000))
    }

    @Test func `an object of unknown length is counted while it arrives`() async throws {
        let result = try await failure(maxSourceBytes: 10_000) { _ in
            [
                .send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nTransfer-Encoding: chunked\r\n\r\n"),
                .sendForever("400\r\n\(String(repeating: "x", count: 1024))\r\n"),
            ]
        }
        #expect(result.error == .tooLarge(limitBytes: 10_000))
    }

    @Test func `an object that ends early is no image, and is not read on from another version`() async throws {
        let result = try await failure { request in
            [
                .send("HTTP/1.1 200 OK\r\nETag: \"\(request.index)\"\r\nContent-Length: 100\r\n\r\nhalf of it"),
                .close,
            ]
        }
        #expect(result.error == .unreachable(.incomplete))
        #expect(result.requests == 1)
    }

    @Test func `an empty object is no image`() async throws {
        #expect(try await failure { _ in [.respond(fields: ["ETag: \"e\""], body: "")] }.error == .emptyBody)
    }

    @Test func `a store that stalls before its answer or within the object is given up at the deadline`() async throws {
        let head = "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 100000\r\n\r\n"
        for (steps, phase) in [([TestOrigin.Step.stall], OriginError.Phase.response), ([.send(head), .drip], .body)] {
            let result = try await failure(downloadTimeout: .seconds(2)) { _ in steps }
            #expect(result.error == .timedOut(phase))
        }
    }

    @Test func `canceling ends the transfer`() async throws {
        try await StubSources.run { _ in
            [.stall]
        } testing: { stub in
            let url = SourceURL.object()
            let task = Task { await stub.sources.failure(of: url) }
            for await _ in stub.store.arrivals { break }
            task.cancel()
            #expect(await task.value == .cancelled)
            for await _ in stub.store.hangUps { break }
        }
    }

    @Test func `progress is reported with the announced length`() async throws {
        let gate = NIOSingletons.posixEventLoopGroup.next().makePromise(of: Void.self)
        let reports = Mutex<[[Int?]]>([])
        let head = "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 8\r\n\r\nfour"
        try await StubSources.run { _ in
            [.send(head), .wait(gate.futureResult), .send("more")]
        } testing: { stub in
            var request = OriginRequest(url: .object())
            request.onProgress = { partial in
                let report = [partial.receivedBytes, partial.expectedBytes, partial.body.readableBytes]
                reports.withLock { $0.append(report) }
                gate.succeed()
            }
            let response = try await stub.sources.fetch(request)
            #expect(String(buffer: response.body) == "fourmore")
            #expect(reports.withLock(\.self) == [[4, 8, 4], [8, 8, 8]])
        }
    }

    @Test func `the bytes of an object count among those in flight until they are released`() async throws {
        try await StubSources.run { _ in
            [Self.object]
        } testing: { stub in
            var response: OriginResponse? = try await stub.sources.fetch(.object())
            #expect(stub.client.inFlightBytes == 7)
            #expect(response?.content.count == 7)
            response = nil
            #expect(stub.client.inFlightBytes == 0)
        }
    }

    @Test func `an object waits for the byte budget, and its deadline is not the store's fault`() async throws {
        let head = "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 100\r\n\r\n"
        let body = String(repeating: "x", count: 100)
        let change: (inout GuardedHTTPClient.Settings) -> Void = {
            ($0.maxInFlightBytes, $0.downloadTimeout) = (150, .seconds(3))
        }
        try await StubSources.run(change) { _ in
            [.send(head), .send(body)]
        } testing: { stub in
            let first = try await stub.sources.fetch(.object())
            #expect(await stub.sources.failure(of: .object("s3://media/b")) == .timedOut(.waiting))
            #expect(first.content.count == 100)
            #expect(stub.client.limits.circuits.count == 0)
        }
    }

    @Test func `downloads of one bucket wait for each other`() async throws {
        let gate = NIOSingletons.posixEventLoopGroup.next().makePromise(of: Void.self)
        let serially: (inout GuardedHTTPClient.Settings) -> Void = { $0.downloadsPerHost = 1 }
        try await StubSources.run(serially) { _ in
            [.wait(gate.futureResult), Self.object]
        } testing: { stub in
            let (first, second) = (SourceURL.object(), SourceURL.object("s3://shop/sale/b"))
            let tasks = [first, second].map { url in Task { await stub.sources.failure(of: url) } }
            for await _ in stub.store.arrivals { break }
            #expect(stub.store.requests.count == 1)
            gate.succeed()
            for task in tasks { #expect(await task.value == nil) }
            #expect(stub.store.requests.count == 2)
        }
    }

    @Test func `a store that is gone is not asked until its rest is over, and a purge ends it`() async throws {
        let time = MovableTime()
        try await StubSources.run(circuits: .forTests(time)) { _ in
            [.reset]
        } testing: { stub in
            let url = SourceURL.object()
            for _ in 0..<5 { #expect(await stub.sources.failure(of: url) == .unreachable(.reset)) }
            let count = stub.store.requests.count
            let other = SourceURL.object("s3://shop/sale/b")
            guard case .hostUnavailable = await stub.sources.failure(of: other) else {
                Issue.record("the store is asked for another source")
                return
            }
            #expect(stub.store.requests.count == count)
            stub.sources.clearOutages(ofHost: "unknown")
            guard case .hostUnavailable = await stub.sources.failure(of: url) else {
                Issue.record("another host's purge ends the outage")
                return
            }
            stub.sources.clearOutages(ofHost: "media")
            #expect(await stub.sources.failure(of: url) == .unreachable(.reset))
        }
    }
}
