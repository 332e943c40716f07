import DarkroomTestOrigin
import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import DarkroomObjectStorage

@Suite(.timeLimit(.minutes(5)))
struct ObjectStoreTests {
    private let limit = Duration.seconds(30)

    @Test func `Get sends a signed request and returns the object`() async throws {
        try await StubStore.run { _ in
            Reply.object("picture")
        } testing: { stub in
            let object = try await stub.store.get(.media("a b/é.jpg"), maxBytes: 100, within: limit)
            #expect(String(buffer: object.body) == "picture")
            #expect(object.attributes.etag == "\"e\"")
            #expect(object.attributes.contentLength == 7)
            let request = try #require(stub.origin.requests.first)
            #expect(request.method == "GET")
            #expect(request.target == "/media/a%20b/%C3%A9.jpg")
            #expect(request.fields["host"] == "127.0.0.1:\(stub.origin.port)")
            #expect(request.fields["x-amz-content-sha256"] == PayloadHash.of([]))
            #expect(request.fields["authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=TESTKEY/") == true)
            #expect(request.fields["accept-encoding"] == "identity")
        }
    }

    @Test func `Keys are sent byte for byte`() async throws {
        let keys = ["..", ".", "a/../b", "a//b", "/a", "//", "%2F", "a+b", "?x=1#y", "\u{1}"]
        try await StubStore.run { _ in
            Reply.object("")
        } testing: { stub in
            for key in keys { _ = try await stub.store.get(.media(key), maxBytes: 1, within: limit) }
            let targets = stub.origin.requests.map(\.target)
            #expect(
                targets == [
                    "/media/..", "/media/.", "/media/a/../b", "/media/a//b", "/media//a", "/media///", "/media/%252F",
                    "/media/a%2Bb", "/media/%3Fx%3D1%23y", "/media/%01",
                ])
        }
    }

    @Test func `Conditions are sent`() async throws {
        try await StubStore.run { _ in
            Reply.object("cde")
        } testing: { stub in
            var read = ObjectRead(maxBytes: 9)
            read.ifNoneMatch = "\"old\""
            read.ifModifiedSince = "Sun, 06 Nov 1994 08:49:37 GMT"
            let result = try await stub.store.get(.media("a"), read, within: limit) { _ in }
            guard case .delivered = result else { return #expect(Bool(false)) }
            let fields = try #require(stub.origin.requests.first?.fields)
            #expect(fields["if-none-match"] == "\"old\"")
            #expect(fields["if-modified-since"] == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(fields["authorization"]?.contains("host;if-modified-since;if-none-match;") == true)
        }
    }

    @Test func `An unmodified object is not delivered`() async throws {
        try await StubStore.run { request in
            request.fields["if-none-match"] == nil
                ? Reply.object("x") : [.notModified(fields: ["ETag: \"e\"", "Cache-Control: max-age=9"])]
        } testing: { stub in
            var read = ObjectRead(maxBytes: 9)
            read.ifNoneMatch = "\"e\""
            for _ in 0..<2 {
                let result = try await stub.store.get(.media("a"), read, within: limit) { _ in
                    Issue.record("nothing to deliver")
                }
                guard case .notModified(let attributes) = result else { return #expect(Bool(false)) }
                #expect(attributes.fields[.cacheControl] == "max-age=9")
            }
            #expect(stub.origin.connectionCount == 1)
        }
    }

    @Test func `Parts arrive in order with the attributes first`() async throws {
        let chunks = "5\r\nabcde\r\n3\r\nfgh\r\n0\r\n\r\n"
        try await StubStore.run { _ in
            [.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nTransfer-Encoding: chunked\r\n\r\n"), .send(chunks)]
        } testing: { stub in
            let parts = Mutex<[String]>([])
            _ = try await stub.store.get(.media("a"), ObjectRead(maxBytes: 8), within: limit) { part in
                switch part {
                case .attributes(let attributes): parts.withLock { $0.append(attributes.etag ?? "") }
                case .bytes(let bytes): parts.withLock { $0.append(String(buffer: bytes)) }
                }
            }
            let received = parts.withLock { $0 }
            #expect(received.first == "\"e\"")
            #expect(received.dropFirst().joined() == "abcdefgh")
        }
    }

    @Test func `An error of the receiver ends the operation`() async throws {
        try await StubStore.run { _ in
            [.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 9\r\n\r\nabc"), .stall]
        } testing: { stub in
            await #expect(throws: ObjectStorageError.slowDown) {
                try await stub.store.get(.media("a"), ObjectRead(maxBytes: 9), within: limit) {
                    part throws(ObjectStorageError) in
                    if case .bytes = part { throw .slowDown }
                }
            }
            for await _ in stub.origin.hangUps { break }
            #expect(stub.sent.operations == [.get])
        }
    }

    @Test func `Put sends the body`() async throws {
        try await StubStore.run { _ in
            Reply.object("")
        } testing: { stub in
            try await stub.store.put(.media("k"), ByteBuffer(string: "bytes"), within: limit)
            let request = try #require(stub.origin.requests.first)
            #expect(request.method == "PUT")
            #expect(String(buffer: request.body) == "bytes")
            #expect(request.fields["content-type"] == "application/octet-stream")
            #expect(request.fields["content-length"] == "5")
            #expect(request.fields["x-amz-content-sha256"] == PayloadHash.of(Array("bytes".utf8)))
            let signed = "content-type;host;x-amz-content-sha256;x-amz-date,"
            #expect(request.fields["authorization"]?.contains("SignedHeaders=\(signed)") == true)
        }
    }

    @Test func `Head reads attributes of a large object without its bytes`() async throws {
        try await StubStore.run { _ in
            [.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 5368709120\r\n\r\n")]
        } testing: { stub in
            for _ in 0..<2 {
                let attributes = try await stub.store.head(.media("k"), within: limit)
                #expect(attributes.contentLength == 5_368_709_120)
            }
            #expect(stub.origin.requests.map(\.method) == ["HEAD", "HEAD"])
            #expect(stub.origin.connectionCount == 1)
        }
    }

    @Test(arguments: ["204 No Content", "404 Not Found"])
    func `Deleting succeeds with and without an object`(status: String) async throws {
        try await StubStore.run { _ in
            status.hasPrefix("204")
                ? [.send("HTTP/1.1 204 No Content\r\n\r\n")] : Reply.error(status, "NoSuchKey")
        } testing: { stub in
            try await stub.store.delete(.media("k"), within: limit)
            #expect(stub.origin.requests.map(\.method) == ["DELETE"])
        }
    }

    @Test func `Connections are used again`() async throws {
        try await StubStore.run { request in
            request.method == "DELETE" ? [.send("HTTP/1.1 204 No Content\r\n\r\n")] : Reply.object("")
        } testing: { stub in
            let name = try ObjectName.media("k")
            try await stub.store.put(name, ByteBuffer(string: "b"), within: limit)
            _ = try await stub.store.get(name, maxBytes: 9, within: limit)
            _ = try await stub.store.head(name, within: limit)
            try await stub.store.delete(name, within: limit)
            #expect(stub.origin.connectionCount == 1)
            #expect(stub.sent.operations == [.put, .get, .head, .delete])
        }
    }

    @Test func `After shutdown operations fail at once`() async throws {
        try await StubStore.run { _ in
            Reply.object("")
        } testing: { stub in
            await stub.store.shutdown()
            await #expect(throws: ObjectStorageError.canceled) {
                try await stub.store.head(.media("k"), within: limit)
            }
        }
    }
}
