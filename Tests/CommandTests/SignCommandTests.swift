import Foundation
import Testing

/// `darkroom sign`, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct SignCommandTests {
    private static let secret = "0123456789abcdef0123456789-secret"
    private let keys = ["DARKROOM_SIGNING_KEYS": "k1:\(secret),k2:\(secret)-2"]
    private let query = "url=local:///sample.jpg&w=60&output=png"

    private func sign(_ words: [String], _ more: [String: String] = [:]) throws -> String {
        let run = try DarkroomProcess.run(["sign"] + words, environment: keys.merging(more) { $1 })
        #expect(run.status == 0, "\(run.errors)")
        return run.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func `The server accepts signed URLs, with the query in the query or in the path, until they expire`()
        async throws
    {
        let flags = ["--port", "0", "--cache-dir", try URL.temporaryFolder().path, "--log-level", "info"]
        let server = try await DarkroomProcess(
            serving: flags + ["--local-root", URL.fixtures.path], environment: keys)
        #expect(try await server.image("local:///sample.jpg", "w=60").problem?.type == "/problems/signature-required")
        for words in [[], ["--key-id", "k2"], ["--expires-in", "1h"], ["--path"], ["--path", "--expires-in", "7d"]] {
            let answer = try await Client.get(server.base + sign([query] + words))
            #expect(answer.status == 200, "\(words)")
            #expect(answer["content-type"] == "image/png")
            let isBounded = answer["cache-control"]?.contains("must-revalidate") == true
            #expect(isBounded == words.contains("--expires-in"))
        }
        #expect(try await Client.get(server.base + sign(["/info?url=local:///sample.jpg"])).status == 200)
        #expect(
            try await Client.get(server.base + sign([query], ["DARKROOM_SIGNING_KEYS": "k1:\(Self.secret)-3"])).status
                == 403)
        #expect(await server.stop() == 0)
        for text in ["k1.", "k2.", "secret", "sample.jpg", "dXJs"] { #expect(!server.log.contains(text), "\(text)") }
        #expect(server.log.contains("/signed/…"))
    }

    @Test(arguments: [
        ("https://img.example.com", "/image"), ("HTTP://[::1]:8080", "/image"),
        ("https://example.com/pictures", "/image"), ("https://img.example.com", "/info"),
    ])
    func `A URL of the server keeps its base, and has the signature of its path`(base: String, path: String) throws {
        let request = "\(path)?url=local:///sample.jpg"
        let signed = try sign([base + request], ["DARKROOM_PUBLIC_URL": "https://other.example.com"])
        #expect(signed == base + (try sign([request])))
    }

    @Test func `A URL of the server may have its query put into the path`() throws {
        let url = "https://img.example.com/image?\(query)"
        #expect(try sign([url, "--path"]) == "https://img.example.com" + sign([query, "--path"]))
    }

    @Test func `With public-url, the URL is absolute`() throws {
        let address = try sign([query], ["DARKROOM_PUBLIC_URL": "https://img.example.com/"])
        #expect(
            address.hasPrefix("https://img.example.com/image?output=png&url=local%3A%2F%2F%2Fsample.jpg&w=60&s=k1."))
    }

    @Test(arguments: [
        (["w=60"], "'url' is required"), (["url=x&w=0"], "'w'"), (["url=x"], "scheme"),
        (["url=https://a.org/&w=1&w=2"], "only once"),
        (["url=https://a.org/&s=k1.x"], "only once"), (["/cache?all=true"], "/cache"),
        (["https://img.example.com/cache?all=true"], "'/cache' cannot be signed"),
        (
            ["https://example.com/photo.jpg"],
            "'/photo.jpg' cannot be signed; signed requests go to /, /explain, /image, /info, /srcset. To sign an image "
                + "of this URL, give 'url=https%3A%2F%2Fexample.com%2Fphoto.jpg' and its parameters."
        ),
        (["url=https://a.org/", "--key-id", "k9"], "k1, k2"),
        (["url=https://a.org/", "--expires-in", "soon"], "--expires-in"),
        (["/info?url=https://a.org/", "--path"], "/image"),
        (["url=https://a.org/&preset=avatar"], "preset"),
    ])
    func `A request that the server would refuse is not signed`(words: [String], sentence: String) throws {
        let run = try DarkroomProcess.run(["sign"] + words, environment: keys)
        #expect(run.status != 0)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains(sentence), "\(run.errors)")
        #expect(!run.errors.contains("0123"))
    }

    @Test func `Signing without a key is an error`() throws {
        let run = try DarkroomProcess.run(["sign", query])
        #expect(run.status == 1)
        #expect(run.errors.contains("DARKROOM_SIGNING_KEYS"))
    }

    @Test func `A server that would be an open proxy does not start and says what to set`() throws {
        let run = try DarkroomProcess.run(["serve", "--port", "0", "--host", "0.0.0.0"])
        #expect(run.status == 78)
        #expect(run.errors.contains("open-proxy=true"))
        #expect(!run.output.contains("listens"))
    }
}
