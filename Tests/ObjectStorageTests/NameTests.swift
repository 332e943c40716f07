import Testing

@testable import DarkroomObjectStorage

struct NameTests {
    @Test(arguments: [
        ("a/b.jpg", "a/b.jpg"), ("..", ".."), ("a//b", "a//b"), ("/a", "/a"), ("%2F", "%252F"), ("a b+c", "a%20b%2Bc"),
        ("é", "%C3%A9"), ("/\u{301}x", "/%CC%81x"), ("?#&=", "%3F%23%26%3D"), ("\u{1}\u{7f}", "%01%7F"),
        ("AZaz09-._~", "AZaz09-._~"), ("!$'()*,:;@[]", "%21%24%27%28%29%2A%2C%3A%3B%40%5B%5D"),
    ])
    func `Keys are encoded as signatures require`(key: String, encoded: String) throws {
        #expect(try ObjectKey(key).percentEncoded == encoded)
    }

    @Test(arguments: ["", "a\u{0}b", String(repeating: "k", count: 1025), String(repeating: "é", count: 513)])
    func `Other keys are refused`(key: String) {
        #expect(throws: ObjectStorageError.invalidRequest(.key)) { try ObjectKey(key) }
    }

    @Test func `Keys are as long as stores allow`() throws {
        #expect(try ObjectKey(String(repeating: "é", count: 512)).description.utf8.count == 1024)
    }

    @Test func `Keys are compared by bytes`() throws {
        let (composed, decomposed) = (try ObjectKey("\u{e9}"), try ObjectKey("e\u{301}"))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(decomposed < composed)
        #expect(try ObjectKey("a") < ObjectKey("a/"))
        #expect(try ObjectKey("Z") < ObjectKey("a"))
    }

    @Test(arguments: ["media", "my.bucket-1", "Legacy_Name"])
    func `Buckets have plain names`(name: String) throws {
        #expect(try BucketName(name).description == name)
    }

    @Test(arguments: [
        "", "ab", "a/b", "..", "bucket.", "-bucket", "a b c", "bück", "a?b", String(repeating: "b", count: 256),
    ])
    func `Other buckets are refused`(name: String) {
        #expect(throws: ObjectStorageError.invalidRequest(.bucket)) { try BucketName(name) }
    }

    @Test func `Path style names the bucket in the path`() throws {
        let endpoint = try ObjectStoreEndpoint(parsing: "http://127.0.0.1:9000")
        let target = try endpoint.target(bucket: BucketName("media"), key: ObjectKey("a b/../c"))
        #expect(target.origin == "http://127.0.0.1:9000")
        #expect(target.authority == "127.0.0.1:9000")
        #expect(target.path == "/media/a%20b/../c")
        #expect(try endpoint.target(bucket: BucketName("media"), key: nil).path == "/media")
    }

    @Test func `Virtual host style names the bucket in the host`() throws {
        let endpoint = try ObjectStoreEndpoint(parsing: "https://Store.Example/", addressing: .virtualHost)
        let target = try endpoint.target(bucket: BucketName("media"), key: ObjectKey("/x"))
        #expect(target.origin == "https://media.store.example")
        #expect(target.authority == "media.store.example")
        #expect(target.path == "//x")
        #expect(try endpoint.target(bucket: BucketName("media"), key: nil).path == "/")
    }

    @Test(arguments: ["Media", "a_b", "a..b", String(repeating: "b", count: 64)])
    func `Virtual host style requires host names`(name: String) throws {
        let endpoint = try ObjectStoreEndpoint(parsing: "https://store.example", addressing: .virtualHost)
        let bucket = try BucketName(name)
        #expect(throws: ObjectStorageError.invalidRequest(.bucket)) { try endpoint.target(bucket: bucket, key: nil) }
    }

    @Test func `Virtual host style requires a named host`() throws {
        let endpoint = try ObjectStoreEndpoint(parsing: "http://127.0.0.1:9000", addressing: .virtualHost)
        let bucket = try BucketName("media")
        #expect(throws: ObjectStorageError.invalidRequest(.bucket)) { try endpoint.target(bucket: bucket, key: nil) }
    }

    @Test(arguments: [
        ("us-east-1", "https://s3.us-east-1.amazonaws.com"), ("cn-north-1", "https://s3.cn-north-1.amazonaws.com.cn"),
    ])
    func `Amazon regions have known endpoints`(region: String, origin: String) throws {
        let endpoint = try ObjectStoreEndpoint(amazonRegion: region)
        #expect(try endpoint == ObjectStoreEndpoint(parsing: origin, addressing: .virtualHost))
    }

    @Test(arguments: [
        "", "store.example", "ftp://store.example", "http://store.example/path", "http://store.example/?a",
        "http://user@store.example", "http://store.example#a", "local:///a",
    ])
    func `Endpoints have scheme, host and port only`(text: String) {
        #expect(throws: ObjectStorageError.invalidRequest(.endpoint)) { try ObjectStoreEndpoint(parsing: text) }
    }

    @Test(arguments: ["", "us east", "evil.example/", "US-EAST-1"])
    func `Regions are names`(region: String) {
        #expect(throws: ObjectStorageError.invalidRequest(.endpoint)) { try ObjectStoreEndpoint(amazonRegion: region) }
    }
}
