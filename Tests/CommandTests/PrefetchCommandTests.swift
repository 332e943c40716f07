import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import DarkroomCommand

/// `darkroom prefetch`, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct PrefetchCommandTests {
    private static let token = "a-token-of-enough-letters"
    private let environment = ["DARKROOM_ADMIN_TOKEN": Self.token]

    private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
        try await DarkroomProcess(["--local-root", URL.fixtures.path, "--admin-token", Self.token] + flags)
    }

    private func prefetch(
        _ list: String, _ server: String, _ words: [String] = [], environment: [String: String]? = nil
    ) throws -> (status: Int32, output: String, errors: String) {
        let file = try URL.temporaryFile("list.txt", list)
        let words = ["prefetch", file.path, "--server", server] + words
        let run = try DarkroomProcess.run(words, environment: environment ?? self.environment)
        return (run.status, run.output, run.errors.replacing(file.path, with: "list.txt"))
    }

    @Test func `Images are hits afterwards, in every width and query`() async throws {
        let server = try await server()
        let run = try prefetch(
            "# photos\nlocal:///sample.jpg\n\nlocal:///formats/alpha.png\n", server.base + "/",
            ["--widths", "20,30", "--query", "w=40&output=webp"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.isEmpty)
        #expect(run.output.hasPrefix("6 images cached on \(server.base)/ in "))
        for query in ["w=20", "w=30", "w=40&output=webp"] {
            let answer = try await server.image("local:///sample.jpg", query)
            #expect(answer["cache-status"]?.contains("hit") == true, "\(query)")
        }
    }

    @Test func `The list may come from standard input, and the token from a file`() async throws {
        let server = try await server()
        let token = try URL.temporaryFile("token", Self.token + "\n")
        let input = Pipe()
        let output = Pipe()
        let process = try DarkroomProcess.launch(
            [
                "prefetch", "-", "--server", server.base, "--admin-token-file", token.path, "--accept", "image/webp",
                "--json",
            ],
            input: input, output: output)
        try input.fileHandleForWriting.write(contentsOf: Data("local:///sample.jpg\n".utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(DarkroomProcess.wait(process) == 0)
        #expect(text.hasPrefix(#"{"summary":{"bytes":"#) && text.contains(#""cached":1,"failed":0"#), "\(text)")
        let answer = try await server.image("local:///sample.jpg", fields: [("Accept", "image/webp")])
        #expect(answer["content-type"] == "image/webp")
        #expect(answer["cache-status"]?.contains("hit") == true)
    }

    @Test func `A server that does not speak HTTP is reported`() async throws {
        let server = try await PictureOrigin(.status("099 Low"))
        let run = try prefetch("local:///sample.jpg\n", server.url(""))
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("Error: "), "\(run.errors)")
    }

    @Test func `An image that failed is reported with the problem of the server`() async throws {
        let server = try await server()
        let list = "local:///gone.jpg\nlocal:///sample.jpg"
        let run = try prefetch(list, server.base, ["--widths", "20"])
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("Error: local:///gone.jpg (w=20): "), "\(run.errors)")
        #expect(run.output.hasSuffix("1 failed.\n"))
        let json = try prefetch(list, server.base, ["--json"])
        #expect(json.errors.isEmpty)
        let lines = json.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.contains(#""status":"failed","url":"local:///gone.jpg""#) == true)
    }

    @Test func `The server's refusals are printed, with the line of the list`() async throws {
        let server = try await server()
        let line = try prefetch("local:///sample.jpg\n\nnonsense\n", server.base)
        #expect(line.status == 1)
        #expect(line.errors.hasPrefix("Error: list.txt:3: "), "\(line.errors)")
        let query = try prefetch("local:///sample.jpg", server.base, ["--query", "w=no"])
        #expect(query.errors.contains("'w' must be"), "\(query.errors)")
        let denied = try prefetch("local:///sample.jpg", server.base, environment: [:])
        #expect(denied.status == 1)
        let hint = "Set DARKROOM_ADMIN_TOKEN, or name a file with --admin-token-file.\n"
        #expect(denied.errors.hasSuffix(hint), "\(denied.errors)")
        let wrong = try prefetch("x", server.base, environment: ["DARKROOM_ADMIN_TOKEN": Self.token + "x"])
        #expect(wrong.status == 1)
        #expect(wrong.errors.hasSuffix("the token that was sent is not the server's admin-token.\n"), "\(wrong.errors)")
        #expect(!wrong.errors.contains("--admin-token-file") && !wrong.errors.contains(Self.token))
    }

    @Test(arguments: [
        (["--server", "127.0.0.1:8080"], 64, "--server must be an absolute http or https URL"),
        (["--server", "http://127.0.0.1:1"], 1, "Error: http://127.0.0.1:1: Connection refused.\n"),
        (["--server", "http://127.0.0.1:1", "--widths", "10,x"], 64, "--widths must be integers"),
        (
            ["--server", "http://127.0.0.1:1", "--admin-token-file", "/no/such"], 1,
            "--admin-token-file: /no/such cannot be read"
        ),
        ([], 64, "--server"),
    ])
    func `What cannot be asked is reported`(words: [String], status: Int32, sentence: String) throws {
        let file = try URL.temporaryFile("list.txt", "local:///sample.jpg")
        let run = try DarkroomProcess.run(["prefetch", file.path] + words)
        #expect(run.status == status)
        #expect(run.errors.contains(sentence), "\(run.errors)")
        let list = try DarkroomProcess.run(["prefetch", "/no/such", "--server", "http://127.0.0.1:1"])
        #expect(list.errors == "Error: /no/such cannot be read: No such file or directory.\n")
        let token = try DarkroomProcess.run(
            ["prefetch", file.path, "--server", "http://127.0.0.1:1"], environment: ["DARKROOM_ADMIN_TOKEN": "short"])
        #expect(token.errors.contains("DARKROOM_ADMIN_TOKEN must be at least 16") && !token.errors.contains("short"))
    }

    @Test func `An answer that is not of a Darkroom server is reported`() async throws {
        let server = try await PictureOrigin(.status("202 Accepted"))
        let run = try prefetch("x", server.url(""))
        #expect(run.status == 1)
        #expect(run.errors.hasSuffix("the response is not from a Darkroom server.\n"), "\(run.errors)")
        server.answer(.status("302 Found", "Location: http://127.0.0.1:1/"))
        #expect(try prefetch("x", server.url("")).errors.hasSuffix(": status 302.\n"))
    }

    @Test func `Ctrl-C cancels the job on the server`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg"))
        let gate = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        origin.hold(until: gate.futureResult)
        let server = try await server(["--allow-networks", "127.0.0.0/8"])
        let file = try URL.temporaryFile("list.txt", origin.url())
        let (output, errors) = (Pipe(), Pipe())
        let process = try DarkroomProcess.launch(
            ["prefetch", file.path, "--server", server.base], environment: environment, output: output, errors: errors)
        for await _ in origin.origin.arrivals { break }
        kill(process.processIdentifier, SIGINT)
        #expect(DarkroomProcess.wait(process) == 130)
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(text == "Error: Interrupted. 1 image left.\n")
        let jobs = try await Client.get(
            server.base + "/prefetch", fields: [("Authorization", "Bearer \(Self.token)")])
        #expect(String(buffer: jobs.body).contains(#""state":"cancelled""#))
        gate.succeed()
    }
}
