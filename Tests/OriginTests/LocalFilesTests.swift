import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A root with an image and traps, next to a secret that must stay out of reach.
final class LocalFilesTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "local-files-\(UUID())")
    private var root: URL { folder.appending(path: "root") }

    init() throws {
        let files = FileManager.default
        try files.createDirectory(at: root.appending(path: "sub dir"), withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: folder.appending(path: "secret"))
        try Data("picture".utf8).write(to: root.appending(path: "a.jpg"))
        try Data("deep".utf8).write(to: root.appending(path: "sub dir/ü.jpg"))
        try Data("odd".utf8).write(to: root.appending(path: "%2e%2e"))
        try Data().write(to: root.appending(path: "empty"))
        let links = ["out": "../secret", "up": "..", "in": "a.jpg", "dirlink": "sub dir", "loop": "loop"]
        for (link, target) in links {
            try files.createSymbolicLink(atPath: root.appending(path: link).path, withDestinationPath: target)
        }
        try #require(mkfifo(root.appending(path: "fifo").path, 0o600) == 0)
        try files.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 784_111_777)],
            ofItemAtPath: root.appending(path: "a.jpg").path)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test func `A file is read whole, with its date`() async throws {
        let response = try await LocalFiles(root: root.path).fetch(SourceURL(parsing: "local:///a.jpg?v=2"))
        #expect(String(buffer: response.body) == "picture")
        #expect(response.headers[.lastModified] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(response.headers.map(\.name) == [.eTag, .lastModified])
        #expect(response.status == .ok && !response.isNotModified)
    }

    @Test func `A file that its tag or its date still names is not read again`() async throws {
        let local = LocalFiles(root: root.path)
        let url = try SourceURL(parsing: "local:///a.jpg")
        let first = try await local.fetch(url)
        let tag = try #require(first.headers[.eTag])
        let date = try #require(first.headers[.lastModified])
        for validators in [[.ifNoneMatch: "\"x\", W/\(tag)"], [.ifModifiedSince: date]] as [HTTPFields] {
            let again = try await local.revalidate(url, validators, of: url)
            #expect(again.isNotModified && again.body.readableBytes == 0)
            #expect(again.headers == first.headers)
        }
    }

    @Test(
        "a file that no validator names is read",
        arguments: [
            [.ifNoneMatch: "\"x\""], [.ifNoneMatch: "odd"], [:],
            [.ifNoneMatch: "\"x\"", .ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"],
            [.ifModifiedSince: "Mon, 07 Nov 1994 08:49:37 GMT"],
        ] as [HTTPFields])
    func unknown(validators: HTTPFields) async throws {
        let url = try SourceURL(parsing: "local:///a.jpg")
        let response = try await LocalFiles(root: root.path).revalidate(url, validators, of: url)
        #expect(String(buffer: response.body) == "picture" && !response.isNotModified)
    }

    @Test func `Validators of another file are not looked at`() async throws {
        let local = LocalFiles(root: root.path)
        let url = try SourceURL(parsing: "local:///a.jpg")
        let tag = try #require(try await local.fetch(url).headers[.eTag])
        let other = try SourceURL(parsing: "local:///b.jpg")
        #expect(try await !local.revalidate(url, [.ifNoneMatch: tag], of: other).isNotModified)
        #expect(try await !local.revalidate(url, [.ifNoneMatch: tag], of: nil).isNotModified)
    }

    @Test func `A file that is rewritten or replaced within a second has another tag`() async throws {
        let local = LocalFiles(root: root.path)
        let file = root.appending(path: "a.jpg")
        let url = try SourceURL(parsing: "local:///a.jpg")
        var tags: Set<String> = []
        let second = Date(timeIntervalSince1970: 784_111_777)
        for (content, fraction) in [("picture", 0.0), ("PICTURE", 0.25), ("longer picture", 0.25)] {
            let inPlace = try FileHandle(forWritingTo: file)
            try inPlace.truncate(atOffset: 0)
            try inPlace.write(contentsOf: Data(content.utf8))
            try inPlace.close()
            try FileManager.default.setAttributes(
                [.modificationDate: second.addingTimeInterval(fraction)], ofItemAtPath: file.path)
            tags.insert(try #require(try await local.fetch(url).headers[.eTag]))
        }
        try FileManager.default.copyItem(at: file, to: root.appending(path: "copy"))
        try FileManager.default.setAttributes(
            [.modificationDate: second.addingTimeInterval(0.25)], ofItemAtPath: root.appending(path: "copy").path)
        try #require(rename(root.appending(path: "copy").path, file.path) == 0)
        tags.insert(try #require(try await local.fetch(url).headers[.eTag]))
        #expect(tags.count == 4)
    }

    @Test func `Names are decoded once`() async throws {
        let local = LocalFiles(root: root.path)
        #expect(
            String(buffer: try await local.fetch(SourceURL(parsing: "local:///sub%20dir/%C3%BC.jpg")).body) == "deep")
        #expect(try await String(buffer: local.fetch(SourceURL(parsing: "local:///%252e%252e")).body) == "odd")
    }

    @Test(
        "paths that could lead anywhere else are refused",
        arguments: [
            "/../secret", "/%2e%2e/secret", "/%2E./secret", "/sub%20dir/../../secret", "/..", "/.", "/./a.jpg",
            "//a.jpg", "/", "/sub%20dir/",
            "/..%2fsecret", "/%2e%2e%2fsecret", "/a.jpg%00.png", "/%ff", "/out", "/up/secret", "/in", "/dirlink/ü.jpg",
            "/loop", "/fifo",
            "/sub%20dir",
        ])
    func refused(path: String) async throws {
        let url = SourceURL(scheme: .local, host: nil, port: nil, path: path, query: nil)
        #expect(await LocalFiles(root: root.path).failure(of: url) == .notAllowed(.path))
    }

    @Test(
        "what is not there is not found",
        arguments: ["/none", "/none/a.jpg", "/a.jpg/b", "/%2e%2e%5csecret", "/C:%5Ca"])
    func missing(path: String) async throws {
        #expect(
            await LocalFiles(root: root.path).failure(of: try SourceURL(parsing: "local://" + path)) == .localNotFound)
    }

    @Test func `Devices are refused`() async throws {
        let devices = LocalFiles(root: "/dev")
        #expect(try await devices.failure(of: SourceURL(parsing: "local:///null")) == .notAllowed(.path))
        #expect(try await devices.failure(of: SourceURL(parsing: "local:///zero")) == .notAllowed(.path))
    }

    @Test func `The limit is inclusive, and an empty file is no original`() async throws {
        let url = try SourceURL(parsing: "local:///a.jpg")
        #expect(await LocalFiles(root: root.path, maxSourceBytes: 7).failure(of: url) == nil)
        #expect(await LocalFiles(root: root.path, maxSourceBytes: 6).failure(of: url) == .tooLarge(limitBytes: 6))
        #expect(try await LocalFiles(root: root.path).failure(of: SourceURL(parsing: "local:///empty")) == .emptyBody)
    }

    @Test func `Without a root there are no local sources`() async throws {
        #expect(
            await LocalFiles(root: nil).failure(of: try SourceURL(parsing: "local:///a.jpg")) == .notAllowed(.local))
        #expect(
            await LocalFiles(root: folder.path + "/gone").failure(of: try SourceURL(parsing: "local:///a.jpg"))
                == .localNotFound)
    }

    @Test func `The router picks by scheme`() async throws {
        let router = OriginRouter(remote: Fails(with: .loop), local: Fails(with: .localNotFound))
        #expect(try await router.failure(of: SourceURL(parsing: "local:///a")) == .localNotFound)
        #expect(try await router.failure(of: SourceURL(parsing: "http://a/")) == .loop)
        #expect(try await router.failure(of: SourceURL(parsing: "https://a/")) == .loop)
    }

    @Test(
        arguments: [
            ("http://a.test/", 403, true), ("s3://media/a", 403, true), ("http://b.test/", 403, false),
            ("s3://other/a", 403, false), ("http://a.test/", 401, false), ("http://a.test/", 500, false),
        ])
    func `A 403 means that there is no original where the operator says so`(
        url: String, status: Int, isMissing: Bool
    ) async throws {
        let response = UnusableResponse(status: status, requestedAt: .distantPast, receivedAt: .distantPast)
        let origin = Fails(with: .unexpectedStatus(response))
        let router = OriginRouter(
            remote: origin, local: origin, objects: origin, forbiddenIsMissing: ["a.test", "s3://media*"])
        let expected = isMissing ? OriginError.notFound(response) : .unexpectedStatus(response)
        #expect(try await router.failure(of: SourceURL(parsing: url)) == expected)
    }

    private struct Fails: OriginFetching {
        let error: OriginError
        init(with error: OriginError) { self.error = error }
        func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse { throw error }
    }
}
