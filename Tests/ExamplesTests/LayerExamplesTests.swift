import DarkroomOrigin
import DarkroomQuery
import DarkroomStore
import DarkroomTestOrigin
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomExamples
@testable import DarkroomOriginExample
@testable import DarkroomStoreExample
@testable import DarkroomTransformsExample
@testable import DarkroomURLsExample

/// The examples of the layers, each of which sees nothing of the other layers.
@Suite(.timeLimit(.minutes(5)))
struct LayerExamplesTests {
    @Test func `The layer of URLs signs as the whole library does`() throws {
        let (server, secret) = ("https://img.example.com", "correct-horse-battery-staple-0123")
        let (photo, expiry) = ("https://example.com/photo.jpg", Date(timeIntervalSince1970: 1_800_000_000))
        let urls = try ImageServerURLs(server: server, keyID: "k1", secret: secret)
        let links = try ImageLinks(server: server, keyID: "k1", secret: secret)
        let expected = try links.avatar(of: photo, until: expiry)
        #expect(try avatarURL(of: photo, on: urls, until: expiry) == expected)
    }

    @Test func `The layer of transforms scales a file`() throws {
        let image = try thumbnail(of: drawing())
        let size = try VipsLoader.webp.withImage(of: image) { lazy throws(VipsError) in [lazy.width, lazy.height] }
        #expect(size == [400, 300])
    }

    @Test func `The layer of the store keeps files beyond the process that wrote them`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("layer-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let before = try await FileCache(folder: folder.path)
        #expect(await before.keep(ByteBuffer(string: "bytes"), as: "a"))
        await before.store.close()
        let after = try await FileCache(folder: folder.path)
        #expect(await after.file("a") == ByteBuffer(string: "bytes"))
        #expect(await after.file("b") == nil)
        await after.store.close()
    }

    @Test func `The layer of origins downloads from public addresses only`() async throws {
        try await withImage { origin in
            let url = "http://127.0.0.1:\(origin.port)/photo.jpg"
            let settings = try GuardedHTTPClient.Settings.loopback
            #expect(try await download(url, settings: settings).readableBytes > 10_000)
            await #expect(throws: OriginError.self) { try await download(url) }
            #expect(origin.requests.count == 1)
        }
    }
}
