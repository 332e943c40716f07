import Foundation
import Testing

/// Incidents around a running server: a second server, deleted folders, kills.
@Suite(.timeLimit(.minutes(5)))
struct SurroundingsTests {
    private func server(cache: URL) async throws -> DarkroomProcess {
        try await DarkroomProcess(["--allow-networks", "127.0.0.0/8"], cache: cache)
    }

    @Test func `A second server on the same cache folder logs that and serves without a disk cache`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let folder = try URL.temporaryFolder()
        let first = try await server(cache: folder)
        let second = try await server(cache: folder)
        for server in [first, second] {
            #expect(try await server.image(origin.url(), "w=20").status == 200)
            #expect(try await server.image(origin.url(), "w=20").cacheStatus.contains("hit"))
        }
        #expect(await second.stop() == 0)
        #expect(second.log.contains("running without a disk cache"))
        #expect(second.log.contains(folder.path))
        #expect(await first.stop() == 0)
        #expect(try await server(cache: folder).image(origin.url(), "w=20").cacheStatus.contains("detail=disk"))
    }

    @Test func `A limit of open files that no server can work with stops the start`() throws {
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "ulimit -n 64; exec \"$0\" serve --port 0", DarkroomProcess.binary.path]
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("DARKROOM_") }
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(DarkroomProcess.wait(process) == 1)
        #expect(text.contains("may open only 64 files"))
    }

    @Test func `A cache folder that is a link stops the start with a sentence`() throws {
        let folder = try URL.temporaryFolder()
        let link = folder.appendingPathExtension("link").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
        let run = try DarkroomProcess.run(["serve", "--port", "0", "--cache-dir", link, "--log-level", "critical"])
        #expect(run.status != 0)
        #expect(
            run.errors == "Error: cache-dir: the cache directory \(link) is a symbolic link: set the folder that it "
                + "leads to.\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func `A cache folder that is deleted at run time is created again`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let folder = try URL.temporaryFolder()
        let server = try await server(cache: folder)
        _ = try await server.image(origin.url(), "w=20&wait=stored")
        // Moved atomically: the server may be writing to it.
        try FileManager.default.moveItem(at: folder, to: folder.appendingPathExtension("deleted"))
        #expect(try await server.image(origin.url(), "w=20").status == 200)
        #expect(try await server.image(origin.url("/b.jpg"), "w=20&wait=stored").status == 200)
        #expect(try await server.image(origin.url("/c.jpg"), "w=20&wait=stored").status == 200)
        #expect(await server.stop() == 0)
    }

    @Test func `The server is not ready while its cache folder is unavailable`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let folder = try URL.temporaryFolder()
        let server = try await server(cache: folder)
        let ready = server.base + "/health/ready"
        #expect(try await Client.get(ready).status == 200)
        // The server may create the folder again before the file takes its place.
        repeat {
            try? FileManager.default.moveItem(at: folder, to: folder.appendingPathExtension(UUID().uuidString))
        } while (try? Data().write(to: folder)) == nil
        #expect(try await server.image(origin.url(), "w=20&wait=stored").status == 200)
        let refused = try await Client.get(ready)
        #expect(refused.status == 503)
        #expect(refused.problem?.type == "/problems/cache-unavailable")
        #expect(refused["retry-after"] == "5")
        #expect(try await server.image(origin.url(), "w=20").status == 200)
        #expect(try await Client.get(server.base + "/health/live").status == 200)
        try FileManager.default.removeItem(at: folder)
        // Each readiness probe makes the server try again.
        while try await Client.get(ready).status != 200 {}
        #expect(try await server.image(origin.url("/b.jpg"), "w=20&wait=stored").status == 200)
        #expect(await server.stop() == 0)
    }

    @Test func `A kill loses no stored entry, and the next start needs no repair`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let folder = try URL.temporaryFolder()
        for round in 0..<5 {
            let server = try await server(cache: folder)
            for earlier in 0..<round {
                let answer = try await server.image(origin.url("/\(earlier).jpg"), "w=20")
                #expect(answer.cacheStatus.contains("detail=disk"))
            }
            #expect(try await server.image(origin.url("/\(round).jpg"), "w=20&wait=stored").status == 200)
            kill(server.identifier, SIGKILL)
        }
        #expect(origin.count == 5)
    }
}
