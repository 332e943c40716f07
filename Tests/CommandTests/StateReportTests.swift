import Foundation
import Testing

/// What a server writes to its log at SIGUSR1.
@Suite(.timeLimit(.minutes(5)))
struct StateReportTests {
    @Test func `A server reports its threads and numbers at each SIGUSR1, and goes on`() async throws {
        let pipe = Pipe()
        let cache = try URL.temporaryFolder().path
        let server = try await DarkroomProcess(
            serving: ["--port", "0", "--cache-dir", cache, "--local-root", URL.fixtures.path], log: pipe)
        let log = Lines(pipe.fileHandleForReading)
        for _ in 1...2 {
            kill(server.identifier, SIGUSR1)
            var threads: [String] = []
            while let line = await log.next() {
                if line.contains(" warning thread ") { threads.append(line) }
                guard line.contains(" warning state ") else { continue }
                for number in [
                    "http-requests-in-flight=0", "pixel-queue-waiting=0", "cache-entries-memory=", "ready=1",
                ] {
                    #expect(line.contains(" \(number)"), "\(line)")
                }
                break
            }
            #if os(Linux)
                #expect(threads.contains { $0.contains(" name=") && $0.contains(" state=") }, "\(threads)")
            #endif
        }
        #expect(try await server.image("local:///sample.jpg", "w=20").status == 200)
        #expect(await server.stop() == 0)
    }
}
