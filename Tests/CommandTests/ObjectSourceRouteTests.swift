import DarkroomObjectStorage
import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import Testing

/// `s3://name/key` through the built executable and a real store, Ceph's RADOS gateway.
@Suite(
    .enabled(if: RealStore.shared != nil, "Run with scripts/object-store run swift test …"), .serialized,
    .timeLimit(.minutes(5)))
struct ObjectSourceRouteTests {
    private static let token = "a-token-of-enough-letters"
    private let real: RealStore
    /// A folder of its own for each test.
    private let folder = "\(UUID().uuidString)/"
    private let picture: ByteBuffer

    init() throws {
        real = try #require(RealStore.shared)
        picture = ByteBuffer(bytes: try Data(contentsOf: URL.fixtures.appendingPathComponent("sample.jpg")))
    }

    private func server(
        _ flags: [String] = [], environment: [String: String] = [:], cache: URL? = nil
    ) async throws -> DarkroomProcess {
        let folder = try cache ?? .temporaryFolder()
        return try await DarkroomProcess(
            serving: [
                "--port", "0", "--cache-dir", folder.path, "--s3-endpoint", real.endpoint, "--s3-region", real.region,
                "--s3-sources", "media=\(real.bucket)/\(self.folder)", "--admin-token", Self.token,
                "--source-map", "shop=s3://media/\(self.folder)",
            ] + flags,
            environment: ["AWS_ACCESS_KEY_ID": real.accessKey, "AWS_SECRET_ACCESS_KEY": real.secretKey]
                .merging(environment) { $1 })
    }

    /// Writes objects below the folder of the test.
    private func put(_ objects: [(key: String, body: ByteBuffer)]) async throws {
        let store = try ObjectStore(
            ObjectStoreSettings(endpoint: try ObjectStoreEndpoint(parsing: real.endpoint), region: real.region),
            credentials: RenewingCredentials(
                environment: ["AWS_ACCESS_KEY_ID": real.accessKey, "AWS_SECRET_ACCESS_KEY": real.secretKey],
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
        let result: Result<Void, any Error>
        do {
            for object in objects {
                let name = ObjectName(bucket: try BucketName(real.bucket), key: try ObjectKey(folder + object.key))
                try await store.put(name, object.body, within: .seconds(30))
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await store.shutdown()
        try result.get()
    }

    private func image(_ server: DarkroomProcess, _ key: String, _ query: String = "w=20") async throws -> Answer {
        try await server.image("s3://media/\(folder)\(key)", query)
    }

    @Test func `An object is an image, and both of its names share one entry`() async throws {
        try await put([("a.jpg", picture)])
        let server = try await server(["--min-fresh", "1h"])
        let first = try await image(server, "a.jpg")
        #expect(first.status == 200)
        #expect(first["cache-status"]?.contains("fwd=miss") == true)
        let second = try await server.image("shop:a.jpg", "w=20")
        #expect(second["cache-status"]?.contains("darkroom;hit") == true)
        #expect(second.body == first.body)
    }

    @Test(arguments: [
        "a b+c&d=e.jpg", "ü/日本.jpg", "a?b#c.jpg", "100%25.jpg", "//a.jpg", "back\\slash.jpg", "...", "a;b,c'd\"e.jpg",
        String(repeating: "k", count: 1024 - 37),
    ])
    func `A key is any text`(key: String) async throws {
        try await put([(key, picture)])
        let server = try await server()
        // Once for the s3 URL, and once for our own query.
        let encoded = key.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let answer = try await image(server, encoded)
        #expect(answer.status == 200, "\(answer.problem?.detail ?? "")")
    }

    @Test func `A key of the greatest length is read, and a longer one is refused`() async throws {
        let server = try await server()
        let key = String(repeating: "k", count: 1025 - folder.utf8.count)
        #expect(try await image(server, key).status == 400)
        #expect(try await image(server, String(key.dropLast())).status == 404)
    }

    @Test func `A stale object is asked for again with its tag, and 304 keeps what was made of it`() async throws {
        try await put([("a.jpg", picture)])
        let server = try await server()
        let first = try await image(server, "a.jpg")
        let again = try await Client.get(
            "\(server.base)/image?url=s3://media/\(folder)a.jpg&w=20&cache=no-cache",
            fields: [("Authorization", "Bearer \(Self.token)")])
        #expect(again["cache-status"]?.contains("fwd-status=304") == true, "\(again["cache-status"] ?? "")")
        #expect(again.body == first.body)
    }

    @Test func `Failures are told apart and tell nothing private`() async throws {
        try await put([("text.jpg", ByteBuffer(string: "no image")), ("empty.jpg", ByteBuffer())])
        let flags = ["--s3-sources", "media=\(real.bucket)/\(folder),gone=no-such-bucket-here"]
        let server = try await server(flags)
        let answers = [
            ("s3://media/\(folder)none.jpg", 404), ("s3://media/other.jpg", 403), ("s3://unknown/a.jpg", 403),
            ("s3://gone/a.jpg", 502), ("s3://media/\(folder)text.jpg", 415), ("s3://media/\(folder)empty.jpg", 415),
            ("s3://media/\(folder)../a.jpg", 400), ("s3://media/\(folder)a%00.jpg", 400), ("s3://media/a?b", 400),
            ("shop:../a.jpg", 400), ("shop:none.jpg", 404),
        ]
        for (source, status) in answers {
            let answer = try await Client.get(
                "\(server.base)/image?url=\(source.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")")
            #expect(answer.status == status, "\(source)")
            let text = String(buffer: answer.body) + answer.fields.description
            for secret in ["no-such-bucket", "127.0.0.1:", real.accessKey, folder] {
                #expect(!text.replacing(server.base, with: "").contains(secret), "\(source) tells \(secret)")
            }
        }
        #expect(await server.stop() == 0)
        #expect(server.log.contains("no such bucket"))
    }

    @Test func `Wrong credentials are a fault for the log`() async throws {
        try await put([("a.jpg", picture)])
        for environment in [
            ["AWS_SECRET_ACCESS_KEY": "wrong-words"], ["AWS_ACCESS_KEY_ID": "UNKNOWN"], ["AWS_SECRET_ACCESS_KEY": ""],
        ] {
            let server = try await server(environment: environment)
            let answer = try await image(server, "a.jpg")
            #expect(answer.status == 502)
            #expect(answer["proxy-status"] == "darkroom;error=proxy_configuration_error")
            #expect(await server.stop() == 0)
            #expect(server.log.contains("objects cannot be read"))
            #expect(!server.log.contains("wrong-words") && !server.log.contains(real.secretKey))
        }
    }

    @Test func `A store by alias uses the profile of its own`() async throws {
        try await put([("a.jpg", picture)])
        let files = try URL.temporaryFile(
            "credentials",
            "[other]\naws_access_key_id = \(real.accessKey)\naws_secret_access_key = \(real.secretKey)\n")
        let server = try await server(
            [
                "--s3-stores", "ceph=\(real.endpoint)?profile=other",
                "--s3-sources", "media=ceph:\(real.bucket)/\(folder)",
            ],
            environment: [
                "AWS_ACCESS_KEY_ID": "UNKNOWN", "AWS_SECRET_ACCESS_KEY": "wrong",
                "AWS_SHARED_CREDENTIALS_FILE": files.path,
            ])
        #expect(try await image(server, "a.jpg").status == 200)
    }

    @Test func `An object that is too large is refused at its length`() async throws {
        try await put([("large.jpg", ByteBuffer(repeating: 1, count: 2 << 20))])
        let server = try await server(["--max-source-bytes", "1MiB"])
        #expect(try await image(server, "large.jpg").status == 413)
    }

    @Test func `An object that is replaced while it is read is never a mixture`() async throws {
        let server = try await server()
        // Decoders ignore what follows the picture, so that any mixture would be an image too.
        var versions: [ByteBuffer] = []
        for filling in [UInt8(1), 2] {
            var version = picture
            version.writeRepeatingByte(filling, count: 12 << 20)
            versions.append(version)
        }
        var digests: Set<String> = []
        for version in versions {
            try await put([("a.jpg", version)])
            digests.insert(try await digest(server))
        }
        #expect(digests.count == 2)
        let writes = (0..<6).map { ("a.jpg", versions[$0 % 2]) }
        async let writing: Void = put(writes)
        for _ in 0..<12 { #expect(digests.contains(try await digest(server))) }
        try await writing
    }

    /// Reads `a.jpg` from the store and returns the hash of what the server has read.
    private func digest(_ server: DarkroomProcess) async throws -> String {
        struct Entries: Decodable { var contentSha256: String }

        let admin = [("Authorization", "Bearer \(Self.token)")]
        let answer = try await server.image("s3://media/\(folder)a.jpg", "w=20&cache=reload", fields: admin)
        #expect(answer.status == 200, "\(answer.problem?.detail ?? "")")
        let url = "\(server.base)/cache/entries?url=s3://media/\(folder)a.jpg"
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Entries.self, from: try await Client.get(url, fields: admin).body).contentSha256
    }

    @Test func `The store is out of reach for web sources`() async throws {
        try await put([("a.jpg", picture)])
        let server = try await server()
        let answer = try await server.image("\(real.endpoint)/\(real.bucket)/\(folder)a.jpg")
        #expect(answer.status == 403)
        #expect(answer.problem?.type.hasSuffix("source-not-allowed") == true)
    }
}
