import Foundation
import NIOCore
import Testing

/// What a refused source's problem says to the developer who tries the server on this machine, and to others.
@Suite(.timeLimit(.minutes(5)))
struct SourceHintTests {
    private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
        let folder = try URL.temporaryFolder()
        return try await DarkroomProcess(serving: ["--port", "0", "--cache-dir", folder.path] + flags)
    }

    private func localhost(_ origin: PictureOrigin) -> String {
        origin.url().replacingOccurrences(of: "127.0.0.1", with: "localhost")
    }

    /// The settings that a problem names, with the values to add.
    private func hints(_ detail: String) -> [(name: String, value: String)] {
        detail.matches(of: #/([^ ]+) to '(allow-[a-z]+)'/#).map { (String($0.2), String($0.1)) }
    }

    @Test(arguments: [[:], ["allow-hosts": "images.example"], ["allow-networks": "::1/128"]])
    func `A developer who follows the hints gets an image of the local development server`(
        settings: [String: String]
    ) async throws {
        let origin = try await PictureOrigin(.picture())
        for source in [localhost(origin), origin.url()] {
            var (given, answers) = (settings, [Int]())
            while answers.last != 200, answers.count < 4 {
                let server = try await server(given.flatMap { ["--\($0)", $1] })
                let answer = try await server.image(source, "w=20")
                #expect(await server.stop() == 0)
                answers.append(answer.status)
                guard answer.status != 200 else { break }
                #expect(server.log.contains(#/a source is not allowed host=.* request-id=/#), "\(server.log)")
                for (name, value) in hints(answer.problem?.detail ?? "") {
                    given[name] = given[name].map { "\($0),\(value)" } ?? value
                }
            }
            #expect(answers == [403, 200], "\(given)")
        }
    }

    @Test func `The hints are for requests that no proxy forwarded`() async throws {
        let server = try await server()
        let target = "\(server.base)/image?url=http://localhost:9000/photo.jpg"
        let hint = "To allow it, add 127.0.0.0/8,::1/128 to 'allow-networks'."
        #expect(try await Client.get(target).problem?.detail == "The source's port is not allowed. \(hint)")
        for path in ["info", "explain", "srcset"] {
            let answer = try await Client.get("\(server.base)/\(path)?url=http://127.0.0.1:9000/photo.jpg")
            #expect(answer.problem?.detail?.contains("add 127.0.0.0/8 to 'allow-networks'") == true, "\(path)")
        }
        for (name, value) in [
            ("X-Forwarded-For", "127.0.0.1"), ("Forwarded", "for=127.0.0.1"), ("Via", "1.1 proxy"),
            ("X-Real-IP", "127.0.0.1"), ("X-Forwarded-Host", "localhost"), ("X-Forwarded-Proto", "http"),
            ("Host", "images.example.com"),
        ] {
            let answer = try await Client.get(target, fields: [(name, value)])
            #expect(answer.status == 403 && answer.problem?.detail == "The source's port is not allowed.", "\(name)")
        }
        let unknown = try await Client.get("\(server.base)/image?url=http://name.invalid/photo.jpg")
        #expect(unknown.problem?.detail?.hasSuffix("the log names the setting that allows it.") == true)
        #expect(await server.stop() == 0)
        #expect(server.log.components(separatedBy: "allow-networks=127.0.0.0/8,::1/128").count == 9)
    }

    @Test func `A listener that others can reach gives no hints`() async throws {
        let server = try await server(["--host", "0.0.0.0", "--open-proxy", "true"])
        let port = try #require(server.base.split(separator: ":").last)
        let answer = try await Client.get("http://127.0.0.1:\(port)/image?url=http://localhost:9000/photo.jpg")
        #expect(answer.problem?.detail == "The source's port is not allowed.")
        #expect(await server.stop() == 0)
        #expect(server.log.contains("allow-networks=127.0.0.0/8,::1/128"))
    }
}
