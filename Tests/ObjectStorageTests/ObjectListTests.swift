import DarkroomTestOrigin
import Foundation
import NIOCore
import Testing

@testable import DarkroomObjectStorage

@Suite(.timeLimit(.minutes(5)))
struct ObjectListTests {
    private let limit = Duration.seconds(30)
    private let bucket: BucketName

    init() throws { bucket = try BucketName("media") }

    @Test func `Pages are followed until the end`() async throws {
        try await StubStore.run { request in
            request.target.contains("continuation-token=t%2F1")
                ? Reply.list(["p/c"]) : Reply.list(["p/a", "p/b"], next: "t/1")
        } testing: { stub in
            let start = try ObjectKey("p/0 +")
            let list = try await stub.store.list(
                bucket, prefix: "p/", startAfter: start, maxObjects: 5000, within: limit)
            #expect(list.map(\.description) == ["p/a", "p/b", "p/c"])
            #expect(
                stub.origin.requests.map(\.target) == [
                    "/media?encoding-type=url&list-type=2&max-keys=1000&prefix=p%2F&start-after=p%2F0%20%2B",
                    "/media?continuation-token=t%2F1&encoding-type=url&list-type=2&max-keys=1000&prefix=p%2F"
                        + "&start-after=p%2F0%20%2B",
                ])
        }
    }

    @Test func `A listing ends at its limit`() async throws {
        try await StubStore.run { _ in
            Reply.list(["a", "b", "c"], next: "more")
        } testing: { stub in
            let list = try await stub.store.list(bucket, maxObjects: 3, within: limit)
            #expect(list.count == 3)
            #expect(stub.origin.requests.count == 1)
            let shorter = try await stub.store.list(bucket, maxObjects: 2, within: limit)
            #expect(shorter.map(\.description) == ["a", "b"])
        }
    }

    @Test func `Keys are decoded if the store encodes them`() async throws {
        let body = """
            <?xml version="1.0" encoding="UTF-8"?>
            <ListBucketResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated><Contents>
            <Key>a+b%2Bc%01/%C3%A9</Key><LastModified>2009-10-12T17:50:30.500Z</LastModified>
            <ETag>&quot;fba9&quot;</ETag><Size>434234</Size><StorageClass>STANDARD</StorageClass></Contents>
            <Contents><Key>b</Key><LastModified>2009-10-12T17:50:30Z</LastModified><Size>0</Size></Contents>
            </ListBucketResult>
            """
        try await StubStore.run { _ in
            [.respond(body: body)]
        } testing: { stub in
            let keys = try await stub.store.list(bucket, within: limit)
            #expect(keys.map(\.description) == ["a b+c\u{1}/é", "b"])
        }
    }

    @Test func `Times may have fractions of a second`() {
        #expect(Date(iso8601: "2009-10-12T17:50:30.500Z")?.timeIntervalSince1970 == 1_255_369_830.5)
        #expect(Date(iso8601: "2009-10-12T17:50:30Z")?.timeIntervalSince1970 == 1_255_369_830)
    }

    @Test func `Keys are taken literally if the store does not encode them`() async throws {
        try await StubStore.run { _ in
            Reply.list(["a+b%2F"])
        } testing: { stub in
            let list = try await stub.store.list(bucket, within: limit)
            #expect(list.map(\.description) == ["a+b%2F"])
        }
    }

    @Test func `Keys up to the start are left out if the store ignores it`() async throws {
        try await StubStore.run { _ in
            Reply.list(["a", "b", "c"])
        } testing: { stub in
            let list = try await stub.store.list(bucket, startAfter: ObjectKey("b"), within: limit)
            #expect(list.map(\.description) == ["c"])
        }
    }

    @Test func `A token that repeats ends the listing`() async throws {
        try await StubStore.run { _ in
            Reply.list([], next: "again")
        } testing: { stub in
            await #expect(throws: ObjectStorageError.notS3(status: 200)) {
                try await stub.store.list(bucket, within: limit)
            }
            #expect(stub.origin.requests.count == 2)
        }
    }

    @Test func `Endless pages end at the limit of objects`() async throws {
        try await StubStore.run {
            Reply.list(["k\($0.index)"], next: "t\($0.index)")
        } testing: { stub in
            let list = try await stub.store.list(bucket, maxObjects: 20, within: limit)
            #expect(list.count == 20)
            #expect(stub.origin.requests.count == 20)
        }
    }

    @Test func `Endless empty pages end at the time limit`() async throws {
        try await StubStore.run {
            Reply.list([], next: "t\($0.index)")
        } testing: { stub in
            await #expect(throws: ObjectStorageError.self) {
                try await stub.store.list(bucket, within: .milliseconds(100))
            }
        }
    }

    @Test(arguments: [
        Reply.page, "", "<ListBucketResult/>", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListAllMyBucketsResult><IsTruncated>false</IsTruncated></ListAllMyBucketsResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key/><Size>1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>other</Key><Size>1</Size></Contents></ListBucketResult>",
        "\u{1f}\u{8b}gzip",
    ])
    func `Other documents are not listings`(body: String) async throws {
        try await StubStore.run { _ in
            [.respond(body: body)]
        } testing: { stub in
            await #expect(throws: ObjectStorageError.notS3(status: 200)) {
                try await stub.store.list(bucket, prefix: "p/", within: limit)
            }
        }
    }

    @Test func `Batches of a thousand keys are deleted`() async throws {
        try await StubStore.run { _ in
            [.respond(body: "<DeleteResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"/>")]
        } testing: { stub in
            let keys = try (0..<1001).map { try ObjectKey("k<\($0)>") }
            let failures = try await stub.store.delete(keys, in: bucket, within: limit)
            #expect(failures.isEmpty)
            let requests = stub.origin.requests
            #expect(requests.map(\.method) == ["POST", "POST"])
            #expect(requests.map(\.target) == ["/media?delete=", "/media?delete="])
            let last = try #require(requests.last)
            let document =
                "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>"
                + "<Object><Key>k&lt;1000&gt;</Key></Object></Delete>"
            #expect(String(buffer: last.body) == document)
            #expect(last.fields["content-md5"] == "Nz7E9xanbn9AcTF/xp9BWQ==")
        }
    }

    @Test func `Keys that XML cannot contain are deleted one by one`() async throws {
        try await StubStore.run { request in
            request.method == "DELETE"
                ? [.send("HTTP/1.1 204 No Content\r\n\r\n")] : [.respond(body: "<DeleteResult/>")]
        } testing: { stub in
            let keys = [try ObjectKey("a"), try ObjectKey("\u{1}")]
            #expect(try await stub.store.delete(keys, in: bucket, within: limit).isEmpty)
            #expect(stub.origin.requests.map(\.target) == ["/media?delete=", "/media/%01"])
        }
    }

    @Test func `Keys that are not deleted are reported`() async throws {
        let body = """
            <DeleteResult><Error><Key>a</Key><Code>AccessDenied</Code><Message>m</Message></Error>
            <Error><Key>b</Key><Code>NoSuchKey</Code></Error><Error><Key>c</Key><Code>SlowDown</Code></Error></DeleteResult>
            """
        try await StubStore.run { _ in
            [.respond(body: body)]
        } testing: { stub in
            let keys = try ["a", "b", "c", "d"].map { try ObjectKey($0) }
            let failures = try await stub.store.delete(keys, in: bucket, within: limit)
            #expect(
                failures == [
                    DeleteFailure(key: keys[0], error: .forbidden(code: S3ErrorCode("AccessDenied"))),
                    DeleteFailure(key: keys[2], error: .slowDown),
                ])
        }
    }

    @Test(arguments: [Reply.page, "", "<DeleteResult><Error><Key>other</Key></Error></DeleteResult>"])
    func `Other documents are not results of deleting`(body: String) async throws {
        try await StubStore.run { _ in
            [.respond(body: body)]
        } testing: { stub in
            await #expect(throws: ObjectStorageError.notS3(status: 200)) {
                try await stub.store.delete([ObjectKey("a")], in: bucket, within: limit)
            }
        }
    }
}
