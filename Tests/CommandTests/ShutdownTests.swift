import Foundation
import NIOCore
import NIOPosix
import Testing

/// SIGTERM, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct ShutdownTests {
    private func gate() -> EventLoopPromise<Void> {
        MultiThreadedEventLoopGroup.singleton.any().makePromise()
    }

    private func origin() async throws -> PictureOrigin {
        try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
    }

    private func server(_ flags: String..., cache: URL? = nil) async throws -> DarkroomProcess {
        try await DarkroomProcess(["--allow-networks", "127.0.0.0/8"] + flags, cache: cache)
    }

    /// Waits until the server has stopped listening.
    private func refused(_ server: DarkroomProcess) async {
        while await !Client.isRefused(at: server.base) {}
    }

    @Test func `An in-flight image is answered in full and stored on disk, and new connections are refused`()
        async throws
    {
        let (origin, held) = (try await origin(), gate())
        origin.hold(until: held.futureResult)
        let folder = try URL.temporaryFolder()
        let server = try await server("--shutdown-grace", "60s", cache: folder)
        async let answer = server.image(origin.url(), "w=20")
        await origin.nextRequest()
        kill(server.identifier, SIGTERM)
        await refused(server)
        held.succeed()
        #expect(try await answer.status == 200)
        #expect(await server.wait() == 0)
        let next = try await self.server(cache: folder)
        #expect(try await next.image(origin.url(), "w=20").cacheStatus.contains("detail=disk"))
        #expect(origin.count == 1)
        #expect(await next.stop() == 0)
    }

    @Test func `The admin port reports the drain until the last image is answered`() async throws {
        let (origin, held) = (try await origin(), gate())
        origin.hold(until: held.futureResult)
        let server = try await server("--admin-port", "0", "--shutdown-grace", "60s")
        let admin = try #require(await server.nextLine()?.firstMatch(of: /http:[0-9.:\/]+/).map { String($0.output) })
        async let picture = server.image(origin.url(), "w=20")
        await origin.nextRequest()
        #expect(try await Client.get(admin + "/health/ready").status == 200)
        kill(server.identifier, SIGTERM)
        await refused(server)
        let answer = try await Client.get(admin + "/health/ready")
        #expect(answer.status == 503)
        #expect(answer.problem?.type == "/problems/unavailable")
        #expect(try await Client.get(admin + "/health/live").status == 200)
        held.succeed()
        #expect(try await picture.status == 200)
        #expect(await server.wait() == 0)
    }

    @Test func `An origin that never responds delays the exit by the grace period only, and its image is a problem`()
        async throws
    {
        let held = gate()
        defer { held.succeed() }
        let origin = try await origin()
        origin.hold(until: held.futureResult)
        let server = try await server(
            "--shutdown-grace", "300ms", "--log-level", "info", "--log-format", "logfmt", "--request-timeout", "4m",
            "--download-timeout", "3m")
        async let answer = server.image(origin.url(), "w=20")
        await origin.nextRequest()
        let start = ContinuousClock.now
        #expect(await server.stop() == 0)
        #expect(start.duration(to: .now) < .seconds(60), "the origin would be waited for during three minutes")
        #expect(try await answer.status == 503)
        #expect(try await answer.problem?.type == "/problems/unavailable")
        #expect(try await answer["retry-after"] == "1")
        let line = try #require(server.log.split(separator: "\n").first { $0.contains("msg=request") })
        #expect(line.contains("status=503") && line.contains("problem=unavailable"))
        #expect(!line.contains("disconnected"))
    }

    @Test func `A second signal ends the server at once`() async throws {
        let held = gate()
        defer { held.succeed() }
        let origin = try await origin()
        origin.hold(until: held.futureResult)
        let server = try await server("--shutdown-grace", "60s")
        async let answer = try? server.image(origin.url(), "w=20")
        await origin.nextRequest()
        kill(server.identifier, SIGTERM)
        // Until a second has passed, further signals are the same one.
        while server.isRunning {
            kill(server.identifier, SIGTERM)
            await Task.yield()
        }
        #expect(await server.wait() == 128 + SIGTERM)
        #expect(await answer == nil)
        #expect(server.log.contains("second signal"))
    }

    @Test func `A signal ends a server that is still starting`() async throws {
        let held = gate()
        defer { held.succeed() }
        let store = try await origin()
        store.hold(until: held.futureResult)
        // The store does not answer, which delays the start by five seconds.
        let output = Pipe()
        let process = try DarkroomProcess.launch(
            [
                "serve", "--port", "0", "--cache-disk-bytes", "0", "--shared-store", "s3://bucket/folder",
                "--s3-endpoint", store.url(""), "--s3-region", "us-east-1",
            ], environment: ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"], output: output)
        await store.nextRequest()
        kill(process.processIdentifier, SIGTERM)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(DarkroomProcess.wait(process) == 0)
        // It does not say that it listens on a port that is closed again.
        #expect(!text.contains(":0\n"), "\(text)")
    }

    @Test func `A signal that is repeated at once counts once`() async throws {
        let (origin, held) = (try await origin(), gate())
        origin.hold(until: held.futureResult)
        let server = try await server("--shutdown-grace", "60s")
        async let answer = server.image(origin.url(), "w=20")
        await origin.nextRequest()
        for signal in [SIGTERM, SIGINT, SIGTERM] { kill(server.identifier, signal) }
        await refused(server)
        held.succeed()
        #expect(try await answer.status == 200)
        #expect(await server.wait() == 0)
    }

    @Test func `Idle connections on either port do not delay the exit`() async throws {
        let server = try await server("--shutdown-grace", "60s", "--admin-port", "0")
        let admin = try #require(await server.nextLine())
        var sockets: [any Channel] = []
        for base in [server.base, admin] {
            let port = try #require(base.split(separator: ":").last.flatMap { Int($0) })
            for _ in 0..<3 {
                sockets.append(
                    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                        .connect(host: "127.0.0.1", port: port).get())
            }
        }
        let start = ContinuousClock.now
        #expect(await server.stop() == 0)
        #expect(start.duration(to: .now) < .seconds(30))
        for socket in sockets { try? await socket.close() }
    }
}
