import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import DarkroomCommand

/// `darkroom health`, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct HealthCommandTests {
    @Test func `A ready server is found by its port from a flag, the environment or the file`() async throws {
        let server = try await DarkroomProcess()
        let port = try #require(server.base.split(separator: ":").last)
        let file = try URL.temporaryFile("darkroom.yaml", "port: \(port)\n")
        for (flags, environment) in [
            (["--port", "\(port)"], [:]), ([], ["DARKROOM_PORT": "\(port)"]), (["--config", file.path], [:]),
            (["--url", server.base + "/"], ["DARKROOM_PORT": "1"]),
        ] {
            let run = try DarkroomProcess.run(["health"] + flags, environment: environment)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output == "\(server.base)/health/ready: ready\n")
            #expect(run.errors.isEmpty)
        }
        #expect(await server.stop() == 0)
        let run = try DarkroomProcess.run(["health", "--port", "\(port)"])
        #expect(run.status == 1)
        #expect(run.errors == "Error: \(server.base)/health/ready: Connection refused.\n")
    }

    @Test func `A server that is not ready is unhealthy for the reason that it gives`() async throws {
        let detail = "The server is starting; retry in a second."
        let problem = ByteBuffer(string: #"{"type":"/problems/unavailable","detail":"\#(detail)"}"#)
        let server = try await PictureOrigin(.status("404 Not Found"))
        server.answer("/health/ready", .init(status: "503 Service Unavailable", body: problem))
        let run = try DarkroomProcess.run(["health", "--url", server.url("")])
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors == "Error: \(server.url("/health/ready")): \(detail)\n")
        let other = try DarkroomProcess.run(["health", "--url", server.url("/other")])
        #expect(other.status == 1)
        #expect(other.errors == "Error: \(server.url("/other/health/ready")): status 404.\n")
    }

    @Test func `What does not speak HTTP is unhealthy`() async throws {
        let server = try await PictureOrigin(.status("099 Low"))
        let run = try DarkroomProcess.run(["health", "--url", server.url("")])
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("Error: \(server.url("/health/ready")): "), "\(run.errors)")
    }

    @Test func `A server that does not answer is unhealthy after the timeout`() async throws {
        let server = try await PictureOrigin(.status("200 OK"))
        let gate = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
        defer { gate.succeed() }
        server.hold(until: gate.futureResult)
        let error = await #expect(throws: SettingError.self) {
            var probe = ReadinessProbe(server: server.url(""))
            probe.timeout = .milliseconds(100)
            try await probe.run()
        }
        #expect(error?.description == "\(server.url("/health/ready")): no response within 100 ms.")
    }

    @Test(arguments: [
        ("0.0.0.0", "http://127.0.0.1:8080"), ("::", "http://[::1]:8080"), ("::1", "http://[::1]:8080"),
        ("127.0.0.2", "http://127.0.0.2:8080"), ("localhost", "http://localhost:8080"),
    ])
    func `The server is asked at an address on which it listens`(host: String, url: String) throws {
        // A server on all addresses may have its keys elsewhere; whether it is open does not matter here.
        let sources = try SettingSources(flags: [:], environment: ["DARKROOM_HOST": host], file: nil)
        #expect(try CheckHealth.probe(Settings(unchecked: sources)).url == url + "/health/ready")
    }

    @Test(arguments: [
        (["--port", "0"], 1, "Error: port is 0, a free port that the server chose; name it with --url.\n"),
        (["--url", "127.0.0.1:8080"], 1, "Error: --url must be an absolute http or https URL"),
        (["--port", "x"], 1, "Error: --port must be an integer from 0 to 65535, got 'x'.\n"),
        (["--config", "/no/such.yaml"], 1, "Error: --config: /no/such.yaml is missing"),
        (["--prot", "1"], 64, "Did you mean --port?"),
    ])
    func `What cannot be asked is unhealthy, with the reason`(flags: [String], status: Int32, words: String) throws {
        let run = try DarkroomProcess.run(["health"] + flags)
        #expect(run.status == status)
        #expect(run.errors.contains(words), "\(run.errors)")
    }
}
