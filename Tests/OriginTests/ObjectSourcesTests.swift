import DarkroomTestLogs
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

/// What is read from a store, and how its failures are reported.
@Suite(.timeLimit(.minutes(5)))
struct ObjectSourcesTests {
    @Test func `An object is read whole, with the fields that matter to caching`() async throws {
        try await StubSources.run { _ in
            [StubSources.object]
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

    @Test func `Fields of the caller are not sent to a store`() async throws {
        try await StubSources.run { _ in
            [StubSources.object]
        } testing: { stub in
            _ = try await stub.sources.fetch(.object(), headers: [.cookie: "a=b", .accept: "image/png"])
            #expect(stub.store.requests.first?.fields["cookie"] == nil)
            #expect(stub.store.requests.first?.fields["accept"] == nil)
        }
    }

    @Test func `Validators of the same object are sent, and 304 keeps it`() async throws {
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
    func `Only listed buckets and prefixes are read`(text: String, isAllowed: Bool) async throws {
        try await StubSources.run { _ in
            [StubSources.object]
        } testing: { stub in
            let url = SourceURL.object(text)
            let expected: OriginError? = isAllowed ? nil : .notAllowed(.object)
            #expect(stub.sources.refusal(of: url) == expected)
            #expect(await stub.sources.failure(of: url) == expected)
            #expect(stub.store.requests.count == (isAllowed ? 1 : 0))
        }
    }

    @Test func `Other schemes are not read from a store, nor objects by web clients`() async throws {
        try await StubSources.run { _ in
            [StubSources.object]
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

    @Test func `A web server cannot redirect to an object`() async throws {
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
    func `Answers of the store are told apart, and faults of the configuration are logged`(
        status: String, code: String, error: OriginError, isLogged: Bool
    ) async throws {
        let result = try await StubSources.failure { _ in
            [.respond(status, fields: ["Location: http://127.0.0.1:1/"], body: "<Error><Code>\(code)</Code></Error>")]
        }
        #expect(result.error == error)
        #expect(result.log.count == (isLogged ? 1 : 0))
        #expect(!"\(result.error.map(\.description) ?? "")".contains("private-bucket"))
        #expect(!result.log.joined().contains("secret"))
    }

    @Test func `A web server in place of a store is a fault of the configuration, logged until it is over`()
        async throws
    {
        let script: @Sendable (TestOrigin.Request) -> [TestOrigin.Step] = { request in
            request.index == 2 ? [StubSources.object] : [.respond(body: "<!DOCTYPE html><title>Welcome</title>")]
        }
        try await StubSources.run(script: script) { stub in
            for expected in [OriginError.unreachable(.configuration), .unreachable(.configuration), nil] {
                #expect(await stub.sources.failure(of: .object()) == expected)
            }
            #expect(await stub.sources.failure(of: .object()) == .unreachable(.configuration))
            #expect(
                stub.log.events.map(\.message) == [
                    "objects cannot be read", "objects can be read again", "objects cannot be read",
                ])
        }
    }

    @Test func `A redirect is not followed`() async throws {
        let other = TestOrigin { _ in [StubSources.object] }
        try await other.start()
        let port = other.port
        let result = try await StubSources.failure { _ in
            [.redirect("307 Temporary Redirect", to: "http://127.0.0.1:\(port)/")]
        }
        #expect(result.error == .unreachable(.configuration))
        #expect(other.requests.isEmpty)
        try await other.stop()
    }

    @Test(arguments: ["gzip", "GZIP", "br, identity", "aws-chunked, gzip"])
    func `An object that is not encoded as it says is refused as HTTP sources are`(coding: String) async throws {
        let result = try await StubSources.failure { _ in
            [.respond(fields: ["ETag: \"e\"", "Content-Encoding: \(coding)"])]
        }
        #expect(result.error == .unacceptableEncoding)
    }

    @Test(arguments: ["identity", "aws-chunked", "aws-chunked , Identity", ""])
    func `What an upload was encoded with does not matter`(coding: String) async throws {
        let result = try await StubSources.failure { _ in
            [.respond(fields: ["ETag: \"e\"", "Content-Encoding: \(coding)"])]
        }
        #expect(result.error == nil)
    }
}
