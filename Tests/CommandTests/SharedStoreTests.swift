import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// Servers that share a tier in a real object store.
@Suite(.enabled(if: RealStore.shared != nil, "no object store"), .timeLimit(.minutes(5)))
struct SharedStoreTests {
    private let store: RealStore

    init() throws {
        store = try #require(RealStore.shared)
    }

    private func server(_ flags: [String] = [], folder: String, cache: URL? = nil) async throws -> DarkroomProcess {
        let cache = try cache ?? URL.temporaryFolder()
        return try await DarkroomProcess(
            serving: [
                "--port", "0", "--cache-dir", cache.path, "--log-level", "notice", "--allow-networks", "127.0.0.0/8",
                "--admin-token", Self.token, "--purge-poll", "100ms", "--shared-store-timeout", "10s",
            ] + store.flags(folder: folder) + flags, environment: store.credentials)
    }

    private static let token = "correct-horse-battery"

    @Test func `What one server made is a hit for another one and for a third that has no disk`() async throws {
        let folder = "darkroom/\(UUID())"
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=3600", "ETag: \"1\""))
        let (first, second) = (try await server(folder: folder), try await server(folder: folder))
        let third = try await server(["--cache-disk-bytes", "0"], folder: folder)
        let query = "/image?url=\(origin.url())&w=120"
        let made = try await Client.get(first.base + query)
        #expect(made.status == 200)
        try await waitUntil { try await Self.metric("darkroom_shared_store_writes_total", first) == 3 }
        for server in [second, third] {
            let found = try await Client.get(server.base + query)
            #expect(found.body == made.body)
            #expect(found["etag"] == made["etag"])
            #expect(found["cache-status"]?.contains(";hit;") == true)
            #expect(found["cache-status"]?.hasSuffix(";detail=shared") == true)
        }
        #expect(origin.count == 1)
    }

    @Test func `A purge reaches the others, also one that was off in the meantime`() async throws {
        let folder = "darkroom/\(UUID())"
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=3600", "ETag: \"1\""))
        let cache = try URL.temporaryFolder()
        let (first, second) = (try await server(folder: folder), try await server(folder: folder))
        let off = try await server(folder: folder, cache: cache)
        let query = "/image?url=\(origin.url())&w=120"
        #expect(try await Client.get(first.base + query).status == 200)
        try await waitUntil { try await Self.metric("darkroom_shared_store_writes_total", first) == 3 }
        for server in [second, off] { #expect(try await Client.get(server.base + query).status == 200) }
        #expect(await off.stop() == 0)
        #expect(origin.count == 1)

        origin.answer(try .picture("formats/photo.jpg", "Cache-Control: max-age=3600", "ETag: \"2\""))
        let purge = try await Client.get(
            first.base + "/cache?host=127.0.0.1", method: .DELETE, fields: [("authorization", "Bearer \(Self.token)")])
        #expect(purge.status == 200)
        #expect(String(buffer: purge.body).contains(#""propagation":2"#))
        let new = try await Client.get(first.base + query)
        // At least one mark of the removal, and the three objects of the new image.
        try await waitUntil {
            let written = try await Self.metric("darkroom_shared_store_writes_total", first) ?? 0
            let waiting = try await Self.metric("darkroom_shared_store_queued_writes", first)
            return written >= 7 && waiting == 0
        }
        try await waitUntil { try await Client.get(second.base + query).body == new.body }
        let back = try await server(folder: folder, cache: cache)
        #expect(try await Client.get(back.base + query).body == new.body)
        #expect(origin.count == 2)
    }

    @Test(arguments: [
        (["--shared-store", "s3://no-such-bucket-here/x"], "no such bucket"),
        (["--s3-region", "UPPER"], "s3-region"), (["--shared-store", "http://x"], "shared-store"),
        (["--shared-store", "s3://a/b//c"], "shared-store"), (["--purge-poll", "0"], "purge-poll"),
    ])
    func `A store that cannot be used as the settings say stops startup`(
        flags: [String], mention: String
    ) async throws {
        let failure = await #expect(throws: DarkroomProcess.StartFailure.self) {
            try await server(flags, folder: "darkroom")
        }
        #expect(failure?.status == (mention == "no such bucket" ? 1 : 78))
        #expect(failure?.log.contains(mention) == true)
    }

    @Test func `An endpoint that is no object store stops startup`() async throws {
        let origin = try await PictureOrigin(.status("200 OK", "Content-Type: text/html"))
        let failure = await #expect(throws: DarkroomProcess.StartFailure.self) {
            try await server(["--s3-endpoint", origin.url("")], folder: "darkroom")
        }
        #expect(failure?.status == 1)
        #expect(failure?.log.contains("does not speak S3") == true)
    }

    @Test func `Wrong credentials stop startup and are not written down`() async throws {
        let failure = await #expect(throws: DarkroomProcess.StartFailure.self) {
            _ = try await DarkroomProcess(
                serving: ["--port", "0"] + store.flags(folder: "x"),
                environment: [
                    "AWS_ACCESS_KEY_ID": "WRONGACCESSKEY000001", "AWS_SECRET_ACCESS_KEY": "a-wrong-secret-key",
                ])
        }
        #expect(failure?.status == 1)
        #expect(failure?.log.contains("shared-store") == true)
        #expect(failure?.log.contains("a-wrong-secret-key") == false)
    }

    @Test func `A server starts and answers without its store, and a purge says that it reached no one`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=3600"))
        let server = try await server(["--s3-endpoint", "http://127.0.0.1:9"], folder: "x")
        #expect(server.log.contains("starting without the shared store"))
        #expect(try await Client.get(server.base + "/image?url=\(origin.url())&w=120").status == 200)
        #expect(try await Client.get(server.base + "/health/ready").status == 200)
        let purge = try await Client.get(
            server.base + "/cache?all=true", method: .DELETE, fields: [("authorization", "Bearer \(Self.token)")])
        #expect(purge.status == 503)
        #expect(purge.problem?.type == "/problems/purge-not-shared")
    }

    private static func metric(_ name: String, _ server: DarkroomProcess) async throws -> Int? {
        let page = try await Client.get(
            server.base + "/metrics", fields: [("authorization", "Bearer \(token)")])
        let line = String(buffer: page.body).split(separator: "\n").first {
            $0.hasPrefix("\(name) ")
        }
        return line.flatMap { Int($0.dropFirst(name.count + 1)) }
    }

    private func waitUntil(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try Task.checkCancellation() }
    }
}

extension RealStore {
    func flags(folder: String) -> [String] {
        ["--shared-store", "s3://\(bucket)/\(folder)", "--s3-endpoint", endpoint, "--s3-region", region]
    }

    var credentials: [String: String] { ["AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey] }
}
