import DarkroomTestOrigin
import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Testing

@testable import DarkroomObjectStorage

extension RealStore {
    func settings(addressing: ObjectStoreEndpoint.Addressing = .path) throws -> ObjectStoreSettings {
        // The gateway knows `localhost` as its own name, below which it looks for buckets.
        let url = addressing == .path ? endpoint : endpoint.replacing("127.0.0.1", with: "localhost")
        return ObjectStoreSettings(
            endpoint: try ObjectStoreEndpoint(parsing: url, addressing: addressing), region: region)
    }

    func run(
        addressing: ObjectStoreEndpoint.Addressing = .path, credentials: Credentials? = nil,
        now: @escaping @Sendable () -> Date = { Date() },
        _ body: (ObjectStore, BucketName, RequestLog) async throws -> Void
    ) async throws {
        let sent = RequestLog()
        let own = try Credentials(accessKey: accessKey, secretKey: secretKey)
        let store = try ObjectStore(
            settings(addressing: addressing), credentials: StaticCredentials(credentials ?? own),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, now: now,
            addresses: ["\(bucket).localhost": "127.0.0.1"], onRequest: sent.append)
        let result: Result<Void, any Error>
        do { result = .success(try await body(store, BucketName(bucket), sent)) } catch { result = .failure(error) }
        await store.shutdown()
        try result.get()
    }
}

/// The client against a real store, Ceph's RADOS gateway.
@Suite(
    .enabled(if: RealStore.shared != nil, "Run with scripts/object-store run swift test …"), .serialized,
    .timeLimit(.minutes(5)))
struct RealStoreTests {
    private let real: RealStore
    private let limit = Duration.seconds(30)
    /// A folder of its own for each test.
    private let folder = "\(UUID().uuidString)/"

    init() throws { real = try #require(RealStore.shared) }

    private func name(_ key: String, in bucket: BucketName) throws -> ObjectName {
        ObjectName(bucket: bucket, key: try ObjectKey(folder + key))
    }

    @Test(arguments: [ObjectStoreEndpoint.Addressing.path, .virtualHost])
    func `Writes reads and deletes`(addressing: ObjectStoreEndpoint.Addressing) async throws {
        try await real.run(addressing: addressing) { store, bucket, _ in
            let name = try name("a.txt", in: bucket)
            try await store.put(name, ByteBuffer(string: "hello"), within: limit)
            let object = try await store.get(name, maxBytes: 5, within: limit)
            #expect(String(buffer: object.body) == "hello")
            #expect(object.attributes.etag == "\"5d41402abc4b2a76b9719d911017c592\"")
            #expect(object.attributes.fields[.contentType] == "application/octet-stream")
            let head = try await store.head(name, within: limit)
            #expect(head.contentLength == 5)
            try await store.delete(name, within: limit)
            await #expect(throws: ObjectStorageError.notFound) { try await store.get(name, maxBytes: 5, within: limit) }
            await #expect(throws: ObjectStorageError.notFound) { try await store.head(name, within: limit) }
            try await store.delete(name, within: limit)
        }
    }

    @Test func `Validators revalidate`() async throws {
        try await real.run { store, bucket, _ in
            let name = try name("validators", in: bucket)
            try await store.put(name, ByteBuffer(string: "x"), within: limit)
            var read = ObjectRead(maxBytes: 10)
            read.ifNoneMatch = try await store.head(name, within: limit).etag
            guard case .notModified = try await store.get(name, read, within: limit, deliver: { _ in }) else {
                return #expect(Bool(false))
            }
            read.ifNoneMatch = nil
            read.ifModifiedSince = try await store.head(name, within: limit).fields[.lastModified]
            guard case .notModified = try await store.get(name, read, within: limit, deliver: { _ in }) else {
                return #expect(Bool(false))
            }
            read.ifModifiedSince = nil
            read.ifNoneMatch = "\"other\""
            guard case .delivered = try await store.get(name, read, within: limit, deliver: { _ in }) else {
                return #expect(Bool(false))
            }
        }
    }

    @Test func `Keys of any kind are kept`() async throws {
        let keys = [
            "..", ".", "a/../b", "../a", "a//b", "/a", "a/", "%2F", "%", "a b", "a+b", "é", "e\u{301}", "/\u{301}",
            "日本語/画像.jpg", "😀", "?x=1&y#z", "a&b<c>\"'", "\u{1}", "a\nb", "a\rb\tc", "\\", "*()!';:@$,=[]{}^`|~",
            "a\u{7f}", String(repeating: "k", count: 1024 - folder.utf8.count),
            String(repeating: "é", count: (1024 - folder.utf8.count) / 2),
        ]
        try await real.run { store, bucket, _ in
            for (index, key) in keys.enumerated() {
                try await store.put(name(key, in: bucket), ByteBuffer(string: "\(index)"), within: limit)
            }
            for (index, key) in keys.enumerated() {
                let object = try await store.get(name(key, in: bucket), maxBytes: 9, within: limit)
                #expect(String(buffer: object.body) == "\(index)", "\(key.debugDescription)")
            }
            let expected = try keys.map { try ObjectKey(folder + $0) }.sorted()
            let list = try await store.list(bucket, prefix: folder, within: limit)
            #expect(list == expected)
            for start in expected {
                let rest = try await store.list(bucket, prefix: folder, startAfter: start, within: limit)
                #expect(
                    rest == expected.filter { $0 > start }, "\(start.description.debugDescription)")
            }
            #expect(try await store.delete(expected, in: bucket, within: limit).isEmpty)
            #expect(try await store.list(bucket, prefix: folder, within: limit).isEmpty)
        }
    }

    @Test func `Lists in pages from anywhere`() async throws {
        try await real.run { store, bucket, sent in
            let keys = try (0..<1005).map { try ObjectKey(folder + String($0 + 10_000)) }
            for start in stride(from: 0, to: keys.count, by: 16) {
                try await withThrowingTaskGroup { group in
                    for key in keys[start..<min(start + 16, keys.count)] {
                        group.addTask {
                            let write = ByteBuffer(string: "x")
                            try await store.put(ObjectName(bucket: bucket, key: key), write, within: limit)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            let all = try await store.list(bucket, prefix: folder, maxObjects: 5000, within: limit)
            #expect(all == keys)
            #expect(sent.operations.count { $0 == .list } == 2)
            let some = try await store.list(bucket, prefix: folder, startAfter: keys[999], maxObjects: 3, within: limit)
            #expect(some == Array(keys[1000..<1003]))
            #expect(try await store.delete(keys, in: bucket, within: limit).isEmpty)
            #expect(sent.operations.count { $0 == .deleteBatch } == 2)
            #expect(try await store.list(bucket, prefix: folder, within: limit).isEmpty)
        }
    }

    @Test func `Large objects stream`() async throws {
        try await real.run { store, bucket, _ in
            let name = try name("large", in: bucket)
            let bytes = ByteBuffer(bytes: (0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            try await store.put(name, bytes, within: limit)
            let object = try await store.get(name, maxBytes: 20_000_000, within: limit)
            #expect(object.body == bytes)
            await #expect(throws: ObjectStorageError.tooLarge(limitBytes: 19_999_999)) {
                try await store.get(name, maxBytes: 19_999_999, within: limit)
            }
        }
    }

    @Test func `Wrong credentials are reported with their code`() async throws {
        let code = { (text: String) in ObjectStorageError.forbidden(code: S3ErrorCode(text)) }
        let wrongSecret = try Credentials(accessKey: real.accessKey, secretKey: "wrong")
        let wrongKey = try Credentials(accessKey: "UNKNOWN", secretKey: "wrong")
        for (credentials, error) in [
            (wrongSecret, code("SignatureDoesNotMatch")), (wrongKey, code("InvalidAccessKeyId")),
        ] {
            try await real.run(credentials: credentials) { store, bucket, _ in
                await #expect(throws: error) { try await store.get(name("a", in: bucket), maxBytes: 1, within: limit) }
            }
        }
    }

    @Test func `Missing buckets are reported`() async throws {
        try await real.run { store, _, _ in
            let bucket = try BucketName("no-such-bucket")
            let name = try name("a", in: bucket)
            await #expect(throws: ObjectStorageError.noSuchBucket) {
                try await store.get(name, maxBytes: 1, within: limit)
            }
            await #expect(throws: ObjectStorageError.noSuchBucket) { try await store.list(bucket, within: limit) }
            await #expect(throws: ObjectStorageError.noSuchBucket) {
                try await store.put(name, ByteBuffer(), within: limit)
            }
        }
    }

    @Test(arguments: [-3600.0, 3600])
    func `A clock that is an hour off is corrected`(offset: TimeInterval) async throws {
        let now = { @Sendable in Date().addingTimeInterval(offset) }
        try await real.run(now: now) { store, bucket, sent in
            let name = try name("skew", in: bucket)
            try await store.put(name, ByteBuffer(string: "x"), within: limit)
            #expect(sent.operations == [.put, .put])
            _ = try await store.get(name, maxBytes: 1, within: limit)
            #expect(sent.operations == [.put, .put, .get])
        }
        try await real.run(now: now) { store, bucket, sent in
            _ = try await store.head(name("skew", in: bucket), within: limit)
            #expect(sent.operations == [.head, .head])
        }
    }

    @Test func `A store that is paused meets the time limit and recovers`() async throws {
        try await real.run { store, bucket, _ in
            let name = try name("pause", in: bucket)
            try await store.put(name, ByteBuffer(string: "x"), within: limit)
            kill(real.gatewayPID, SIGSTOP)
            defer { kill(real.gatewayPID, SIGCONT) }
            await #expect(throws: ObjectStorageError.timedOut(.response)) {
                try await store.get(name, maxBytes: 1, within: .milliseconds(200))
            }
            await #expect(throws: ObjectStorageError.timedOut(.response)) {
                try await store.put(name, ByteBuffer(string: "y"), within: .milliseconds(200))
            }
            kill(real.gatewayPID, SIGCONT)
            _ = try await store.get(name, maxBytes: 1, within: limit)
        }
    }
}
